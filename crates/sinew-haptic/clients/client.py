"""A device for Sinew's fast loop: 64-byte datagrams by UDP (docs/haptics.md).

Replace read_device and write_device by calls of the device's library. Usage: client.py [HOST [PORT]]
"""

import math
import socket
import struct
import sys
import time

SENT = struct.Struct("<4sIQ3f4f3f4H")  # mark, sequence, time, position, quaternion xyzw, velocity, buttons...device
GOT = struct.Struct("<4sIQ3f3f3f2H8x")  # mark, sequence, time, force, torque, gripper, stiffness, tick, status, device
HOLD = 0.02  # a force lasts so long without an answer [s]


def read_device(t):
    """Position [m], quaternion x y z w, velocity [m/s], buttons, gripper."""
    return (0.01 * math.sin(t), 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), (0.01 * math.cos(t), 0.0, 0.0), 0, 65535


def write_device(force, torque):
    """Force [N] and torque [N m] on the hand."""


def main():
    host = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 9471
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((host, port))
    link.setblocking(False)
    sequence, answered, start = 0, time.monotonic(), time.monotonic()
    while True:
        now = time.monotonic()
        position, rotation, velocity, buttons, gripper = read_device(now - start)
        micros = int((now - start) * 1e6)
        link.send(SENT.pack(b"SNH1", sequence, micros, *position, *rotation, *velocity, buttons, gripper, 1, 0))
        sequence = (sequence + 1) & 0xFFFFFFFF
        try:
            while True:
                fields = GOT.unpack(link.recv(64))
                if fields[0] == b"SNF1" and all(map(math.isfinite, fields[3:9])):
                    write_device(fields[3:6], fields[6:9])
                    answered = now
        except (BlockingIOError, ConnectionRefusedError, struct.error):
            pass
        if now - answered > HOLD:
            write_device((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        time.sleep(max(0.0, start + sequence * 1e-3 - time.monotonic()))


if __name__ == "__main__":
    main()
