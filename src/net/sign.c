/* sign.c - signatures of trace headers, by libcrypto. The key never leaves: no message has it, nothing keeps it. */
#include "net/sign.h"

#include "base/uuid.h"

#include "base/uuid.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#define SHA1_BYTES 20

bool vti_sign(char signature[VTI_SIGNATURE], const char *key, size_t key_len, const char *info,
              size_t info_len)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    signature[0] = 0;
    if (key_len > INT_MAX ||
        !HMAC(EVP_sha1(), key, (int)key_len, (const unsigned char *)info, info_len, mac, &len) ||
        len != SHA1_BYTES)
        return false;
    for (unsigned i = 0; i < len; i++) {
        signature[2 * i] = digits[mac[i] >> 4];
        signature[2 * i + 1] = digits[mac[i] & 15];
    }
    signature[2 * len] = 0;
    return true;
}

bool vti_sign_fits(const char *signature, size_t len, const char *key, size_t key_len,
                   const char *info, size_t info_len)
{
    char right[VTI_SIGNATURE];

    return len == VTI_SIGNATURE - 1 && vti_sign(right, key, key_len, info, info_len) &&
           !CRYPTO_memcmp(signature, right, len);
}

bool vti_sign_ids(char info[VTI_TRACE_INFO_IDS], char signature[VTI_SIGNATURE], const char *key,
                  size_t key_len, const struct vt_id *base, const struct vt_id *parent)
{
    char base_text[VTI_UUID_TEXT];
    char parent_text[VTI_UUID_TEXT];
    size_t len;

    vti_uuid_text(base->bytes, base_text);
    vti_uuid_text(parent->bytes, parent_text);
    len = vti_trace_info_pack(info, VTI_TRACE_INFO_IDS, base_text, VTI_UUID_TEXT - 1, parent_text,
                              VTI_UUID_TEXT - 1);
    return vti_sign(signature, key, key_len, info, len);
}
