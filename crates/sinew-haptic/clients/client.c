/* A device for Sinew's fast loop: 64-byte datagrams by UDP (docs/haptics.md). Little-endian POSIX machines.
 * Replace read_device and write_device by calls of the device's library. Usage: client [ADDRESS [PORT]]
 * Build: cc -O2 -o client client.c -lm */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#pragma pack(push, 1)
struct sent { char mark[4]; uint32_t sequence; uint64_t time; float position[3], rotation[4], velocity[3]; uint16_t buttons, gripper, flags, device; };
struct got { char mark[4]; uint32_t sequence; uint64_t time; float force[3], torque[3], gripper, stiffness, tick; uint16_t status, device; uint8_t zero[8]; };
#pragma pack(pop)
_Static_assert(sizeof(struct sent) == 64 && sizeof(struct got) == 64, "datagrams have 64 bytes");

static void read_device(double t, struct sent *out) {
    out->position[0] = 0.01f * sinf((float)t); /* [m] */
    out->rotation[3] = 1.0f;                   /* x y z w */
    out->gripper = 65535;
}

static void write_device(const float force[3], const float torque[3]) { (void)force; (void)torque; /* [N], [N m] */ }

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    const float none[3] = {0};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(argc > 2 ? atoi(argv[2]) : 9471))};
    int link = socket(AF_INET, SOCK_DGRAM, 0);
    if (link < 0 || inet_pton(AF_INET, argc > 1 ? argv[1] : "127.0.0.1", &to.sin_addr) != 1) return 1;
    if (connect(link, (struct sockaddr *)&to, sizeof to) != 0) return 1;
    double start = seconds(), answered = start;
    for (uint32_t n = 0;; n++) {
        double now = seconds();
        struct sent out = {.mark = {'S', 'N', 'H', '1'}, .sequence = n, .time = (uint64_t)(1e6 * (now - start)), .flags = 1};
        struct got in;
        read_device(now - start, &out);
        send(link, &out, sizeof out, MSG_DONTWAIT);
        while (recv(link, &in, sizeof in, MSG_DONTWAIT) == (ssize_t)sizeof in) {
            if (memcmp(in.mark, "SNF1", 4) != 0) continue;
            float sum = in.force[0] + in.force[1] + in.force[2] + in.torque[0] + in.torque[1] + in.torque[2];
            if (!isfinite(sum)) continue;
            write_device(in.force, in.torque);
            answered = now;
        }
        if (now - answered > 0.02) write_device(none, none); /* a force lasts 20 ms without an answer */
        double left = start + 1e-3 * (n + 1) - seconds();
        struct timespec pause = {0, left > 0 ? (long)(1e9 * fmin(left, 0.5)) : 0};
        nanosleep(&pause, NULL);
    }
}
