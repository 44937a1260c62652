"""The inventories that come from elsewhere."""
