"""A wire of some length: passes TCP on to a port of the same address, each way half the delay.

python -m bench.delay LISTEN_PORT PORT MILLISECONDS
"""

from __future__ import annotations

import asyncio
import sys


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Every piece leaves its delay after it came: pieces follow each other, as on a real wire."""
    loop = asyncio.get_running_loop()
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            due, piece = await under_way.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not piece:
                writer.close()
                return
            writer.write(piece)
            await writer.drain()

    arriving = asyncio.create_task(deliver())
    piece = b"x"
    while piece:
        try:
            piece = await reader.read(1 << 16)
        except ConnectionError:
            piece = b""
        under_way.put_nowait((loop.time() + delay, piece))
    try:
        await arriving
    except ConnectionError:
        writer.close()


async def _serve(listen: int, port: int, delay: float) -> None:
    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = writer.get_extra_info("sockname")[0]
        far_reader, far_writer = await asyncio.open_connection(address, port)
        await asyncio.gather(_carry(reader, far_writer, delay), _carry(far_reader, writer, delay))

    server = await asyncio.start_server(pass_on, "0.0.0.0", listen, backlog=2000)  # noqa: S104
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 2000))
