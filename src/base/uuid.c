/*
 * uuid.c - 128-bit ids and their text.
 *
 * Also part of the measured process: no allocation, no failure. What an odd text becomes is written to files and compared with
 * what another machine made of it: the mix below never changes.
 */
#include "base/uuid.h"

#include <string.h>

#define DIGITS 32
#define SHORT_DIGITS 16
#define SEED 0x9e3779b97f4a7c15u

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool skip_prefix(const char **text, size_t *len, const char *prefix)
{
    size_t count = strlen(prefix);

    if (*len < count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (((*text)[i] | 0x20) != (prefix[i] | 0x20))
            return false;
    *text += count;
    *len -= count;
    return true;
}

/* The digits of a text that has nothing else but dashes; how many there were, 0 if it is no id. */
static size_t take_digits(uint8_t id[VTI_UUID], const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++) {
        int digit = digit_of(text[i]);

        if (text[i] == '-')
            continue;
        if (digit < 0 || count == DIGITS)
            return 0;
        if (count & 1)
            id[count / 2] |= (uint8_t)digit;
        else
            id[count / 2] = (uint8_t)(digit << 4);
        count++;
    }
    return count;
}

/* The finaliser of MurmurHash3, which spreads every bit over all. */
static uint64_t spread(uint64_t word)
{
    word = (word ^ word >> 33) * 0xff51afd7ed558ccdu;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53u;
    return word ^ word >> 33;
}

static void put_word(uint8_t *to, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(word >> (56 - 8 * i));
}

/* Two chains over the text in words of eight bytes, lowest first; the result says that it is a UUID of a kind of its own (version 8). */
static void make_from_text(uint8_t id[VTI_UUID], const char *text, size_t len)
{
    uint64_t a = SEED ^ len;
    uint64_t b = ~SEED + len;

    for (size_t at = 0; at < len; at += 8) {
        uint64_t word = 0;

        for (size_t i = 0; i < 8 && at + i < len; i++)
            word |= (uint64_t)(uint8_t)text[at + i] << (8 * i);
        a = spread(a ^ word) + b;
        b = spread(b + word) ^ a;
    }
    put_word(id, spread(a));
    put_word(id + 8, spread(b ^ a));
    id[6] = (uint8_t)((id[6] & 0x0f) | 0x80);
    id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
}

bool vti_uuid_parse(uint8_t id[VTI_UUID], const char *text, size_t len)
{
    const char *at = text;
    size_t left = len;
    size_t digits;

    skip_prefix(&at, &left, "urn:");
    skip_prefix(&at, &left, "uuid:");
    if (left >= 2 && at[0] == '{' && at[left - 1] == '}') {
        at++;
        left -= 2;
    }
    digits = take_digits(id, at, left);
    if (digits == DIGITS)
        return true;
    if (digits == SHORT_DIGITS) {
        memcpy(id + 8, id, 8);
        memset(id, 0, 8);
        return true;
    }
    make_from_text(id, text, len);
    return false;
}

void vti_uuid_hex(const uint8_t id[VTI_UUID], char text[VTI_UUID_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < VTI_UUID; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    text[VTI_UUID_HEX - 1] = 0;
}

void vti_uuid_text(const uint8_t id[VTI_UUID], char text[VTI_UUID_TEXT])
{
    static const uint8_t parts[] = {8, 4, 4, 4, 12};
    char hex[VTI_UUID_HEX];
    const char *from = hex;

    vti_uuid_hex(id, hex);
    for (size_t i = 0; i < sizeof parts; i++) {
        memcpy(text, from, parts[i]);
        text += parts[i];
        from += parts[i];
        *text++ = i + 1 < sizeof parts ? '-' : 0;
    }
}

bool vti_uuid_is_zero(const uint8_t id[VTI_UUID])
{
    static const uint8_t zero[VTI_UUID];

    return memcmp(id, zero, VTI_UUID) == 0;
}

uint64_t vti_uuid_short(const uint8_t id[VTI_UUID])
{
    uint64_t word = 0;

    for (int i = 8; i < VTI_UUID; i++)
        word = word << 8 | id[i];
    return word;
}
