"""What an inventory may say: settings with their types, defaults and errors."""
