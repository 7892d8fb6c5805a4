/*
 * settings.c - where a store is and how to get in, from a URL, the environment, or a file.
 *
 * What is secret is kept in fields of its own, is in no message, and is wiped when it is given back.
 */
#include "store/store.h"

#include "base/error.h"
#include "base/number.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define URL_MOST 4096
#define FILE_MOST 65536

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void vti_settings_fini(struct vti_store_settings *settings)
{
    char *const texts[] = {settings->scheme,     settings->host,      settings->path,
                           settings->query,      settings->shown,     settings->user,
                           settings->password,   settings->api_key,   settings->token,
                           settings->ca_file,    settings->cert_file, settings->key_file,
                           settings->fingerprint};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wipe(texts[i]);
    memset(settings, 0, sizeof *settings);
}

/* ---- the URL --------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : -1;
}

/* %41 becomes A; NULL if it is not written so, or would hold a zero byte or a line end. */
static char *decode(const char *text, size_t len)
{
    char *to = malloc(len + 1);
    size_t at = 0;

    if (!to)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '%') {
            int high = len - i > 2 ? hex_digit(text[i + 1]) : -1;
            int low = len - i > 2 ? hex_digit(text[i + 2]) : -1;

            c = high < 0 || low < 0 ? 0 : (char)(high * 16 + low);
            i += 2;
        }
        if ((unsigned char)c < ' ' || c == 0x7f) {
            explicit_bzero(to, len + 1);
            free(to);
            return NULL;
        }
        to[at++] = c;
    }
    to[at] = 0;
    return to;
}

static bool names_tls(const char *scheme)
{
    return !strcmp(scheme, "https") || !strcmp(scheme, "rediss") || !strcmp(scheme, "otlps");
}

static int take_scheme(struct vti_store_settings *settings, const char *url, size_t len)
{
    char *plus;

    settings->scheme = strndup(url, len);
    if (!settings->scheme)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (char *c = settings->scheme; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
        if (!isalnum((unsigned char)*c) && !strchr("+-.", *c))
            return vti_fail(VTI_E_USAGE, "the URL begins with no scheme such as elasticsearch://");
    }
    plus = strchr(settings->scheme, '+');
    if (plus && (!strcmp(plus, "+https") || !strcmp(plus, "+tls") || !strcmp(plus, "+ssl"))) {
        settings->is_tls = true;
        *plus = 0;
    } else if (plus && (!strcmp(plus, "+http"))) {
        *plus = 0;
    }
    if (names_tls(settings->scheme))
        settings->is_tls = true;
    return 0;
}

static int take_login(struct vti_store_settings *settings, const char *text, size_t len)
{
    const char *colon = memchr(text, ':', len);
    size_t user = colon ? (size_t)(colon - text) : len;

    if (user && !(settings->user = decode(text, user)))
        return vti_fail(VTI_E_USAGE, "%s: the user's name in the URL is not percent-encoded",
                        settings->scheme);
    if (colon && !(settings->password = decode(colon + 1, len - user - 1)))
        return vti_fail(VTI_E_USAGE, "%s: the password in the URL is not percent-encoded",
                        settings->scheme);
    return 0;
}

static int take_host(struct vti_store_settings *settings, const char *text, size_t len)
{
    const char *end = text + len;
    const char *close = *text == '[' ? memchr(text, ']', len) : NULL;
    const char *colon = close ? close + 1 : memrchr(text, ':', len);
    size_t host_len = colon ? (size_t)(colon - text) : len;

    if (close && colon < end && *colon != ':')
        return vti_fail(VTI_E_USAGE, "%s: what is behind ']' in the URL?", settings->scheme);
    settings->host = strndup(text, host_len);
    if (!settings->host)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (const char *c = settings->host; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(close ? "[]:.%-_" : ".-_", *c))
            return vti_fail(VTI_E_USAGE, "%s: the URL names no host that there can be",
                            settings->scheme);
    if (colon && colon < end) {
        unsigned long port = 0;

        for (const char *c = colon + 1; c < end; c++)
            port = isdigit((unsigned char)*c) && port < 65536
                       ? port * 10 + (unsigned long)(*c - '0')
                       : 65536;
        if (!port || port > 65535)
            return vti_fail(VTI_E_USAGE, "%s://%s: the port is no number of 1 to 65535",
                            settings->scheme, settings->host);
        settings->port = (unsigned)port;
    }
    return 0;
}

static int show(struct vti_store_settings *settings)
{
    char port[16] = "";

    if (settings->port)
        snprintf(port, sizeof port, ":%u", settings->port);
    if (asprintf(&settings->shown, "%s%s://%s%s%s", settings->scheme,
                 settings->is_tls && !names_tls(settings->scheme) ? "+https" : "", settings->host,
                 port, settings->path) >= 0)
        return 0;
    settings->shown = NULL;
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

int vti_settings_parse(struct vti_store_settings *settings, const char *url)
{
    const char *at = strstr(url, "://");
    const char *end, *login, *question;
    int code;

    memset(settings, 0, sizeof *settings);
    if (strlen(url) > URL_MOST)
        return vti_fail(VTI_E_USAGE, "the URL has more than %d bytes", URL_MOST);
    if (!at)
        return vti_fail(VTI_E_USAGE, "the URL begins with no scheme such as elasticsearch://");
    code = take_scheme(settings, url, (size_t)(at - url));
    at += 3;
    question = at + strcspn(at, "?#");
    end = at + strcspn(at, "/?#");
    login = memrchr(at, '@', (size_t)(end - at));
    if (!code && !login && strcmp(settings->scheme, "file") && strchr(end, '@'))
        code = vti_fail(VTI_E_USAGE,
                        "%s: a password with one of / ? # in it is percent-encoded in a URL: %%2F "
                        "%%3F %%23",
                        settings->scheme);
    if (!code && login)
        code = take_login(settings, at, (size_t)(login - at));
    if (!code)
        code = take_host(settings, login ? login + 1 : at,
                         (size_t)(end - (login ? login + 1 : at)));
    if (code)
        return code;
    settings->path = strndup(end, (size_t)(question - end));
    if (*question == '?')
        settings->query = strndup(question + 1, strcspn(question + 1, "#"));
    if (!settings->path || (*question == '?' && !settings->query))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (const char *c = settings->path; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return vti_fail(VTI_E_USAGE, "%s://%s: blanks in the URL", settings->scheme,
                            settings->host);
    return show(settings);
}

bool vti_settings_is_loopback(const struct vti_store_settings *settings)
{
    size_t len = strlen(settings->host);
    char address[64];
    struct in6_addr v6;
    struct in_addr v4;

    if (!strcasecmp(settings->host, "localhost"))
        return true;
    if (inet_pton(AF_INET, settings->host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (len < 3 || len - 2 >= sizeof address || *settings->host != '[')
        return false;
    snprintf(address, sizeof address, "%.*s", (int)len - 2, settings->host + 1);
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

char *vti_settings_query(const struct vti_store_settings *settings, const char *name)
{
    size_t len = strlen(name);
    const char *at = settings->query;

    while (at && *at) {
        size_t word = strcspn(at, "&");

        if (word > len && !strncmp(at, name, len) && at[len] == '=')
            return decode(at + len + 1, word - len - 1);
        at += word;
        at += *at == '&';
    }
    return NULL;
}

/* ---- what the URL does not say --------------------------------------------------------------- */

struct word {
    const char *name, *variable;
    char **to;
};

#define WORDS 8

static void list_words(struct word words[WORDS], struct vti_store_settings *settings)
{
    const struct word all[WORDS] = {
        {"user", "VENTURI_STORE_USER", &settings->user},
        {"password", "VENTURI_STORE_PASSWORD", &settings->password},
        {"api_key", "VENTURI_STORE_API_KEY", &settings->api_key},
        {"token", "VENTURI_STORE_TOKEN", &settings->token},
        {"ca", "VENTURI_STORE_CA", &settings->ca_file},
        {"cert", "VENTURI_STORE_CERT", &settings->cert_file},
        {"key", "VENTURI_STORE_KEY", &settings->key_file},
        {"fingerprint", "VENTURI_STORE_FINGERPRINT", &settings->fingerprint},
    };

    memcpy(words, all, sizeof all);
}

/* A header that is made from it must stay one line. */
static int take_word(const struct word *word, const char *from, const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
            return vti_fail(VTI_E_USAGE, "%s: %s holds a control character", from, word->name);
    *word->to = strndup(value, len);
    return *word->to ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

/* "AB:CD…" as openssl prints it becomes 64 digits in lower case. */
static int tidy_fingerprint(struct vti_store_settings *settings)
{
    char *to = settings->fingerprint;

    if (!to)
        return 0;
    for (const char *c = settings->fingerprint; *c; c++)
        if (*c != ':' && *c != ' ')
            *to++ = (char)tolower((unsigned char)*c);
    *to = 0;
    if (strlen(settings->fingerprint) != 64 ||
        strspn(settings->fingerprint, "0123456789abcdef") != 64)
        return vti_fail(VTI_E_USAGE, "the fingerprint is no SHA-256: 64 hex digits");
    return 0;
}

static int take_timeout(struct vti_store_settings *settings)
{
    const char *text = getenv("VENTURI_STORE_TIMEOUT");
    char *end;
    double seconds;

    if (!text || !*text)
        return 0;
    seconds = vti_number_read(text, &end);
    if (*end || !(seconds >= 0.1 && seconds <= 3600))
        return vti_fail(VTI_E_USAGE, "VENTURI_STORE_TIMEOUT: is no number of seconds, 0.1 to 3600");
    settings->timeout_ms = (long)(seconds * 1000);
    return 0;
}

int vti_settings_environment(struct vti_store_settings *settings)
{
    struct word words[WORDS];
    int code = take_timeout(settings);

    list_words(words, settings);
    for (size_t i = 0; i < WORDS && !code; i++) {
        const char *value = getenv(words[i].variable);

        if (value && *value && !*words[i].to)
            code = take_word(&words[i], words[i].variable, value, strlen(value));
    }
    return code ? code : tidy_fingerprint(settings);
}

static const char *trim(const char *text, size_t *len)
{
    while (*len && isspace((unsigned char)*text))
        text++, (*len)--;
    while (*len && isspace((unsigned char)text[*len - 1]))
        (*len)--;
    return text;
}

static int take_line(struct vti_store_settings *settings, const char *path, const char *line,
                     size_t len, unsigned number)
{
    struct word words[WORDS];
    const char *equals, *value;
    size_t name_len, value_len;

    line = trim(line, &len);
    if (!len || *line == '#')
        return 0;
    equals = memchr(line, '=', len);
    if (!equals)
        return vti_fail(VTI_E_USAGE, "%s: line %u: is no `name = value`", path, number);
    name_len = (size_t)(equals - line);
    value = equals + 1;
    value_len = len - name_len - 1;
    line = trim(line, &name_len);
    value = trim(value, &value_len);
    list_words(words, settings);
    for (size_t i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == name_len && !memcmp(words[i].name, line, name_len))
            return *words[i].to ? 0 : take_word(&words[i], path, value, value_len);
    return vti_fail(VTI_E_USAGE,
                    "%s: line %u: names are user, password, api_key, token, ca, cert, key, "
                    "fingerprint",
                    path, number);
}

/* The whole file, terminated; it must be its owner's alone. */
static int read_secret(const char *path, char **text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    ssize_t got = -1;
    int code = 0;

    *text = NULL;
    if (fd < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    if (fstat(fd, &stat) || !S_ISREG(stat.st_mode))
        code = vti_fail(VTI_E_USAGE, "%s: is no plain file", path);
    else if (stat.st_mode & (S_IRWXG | S_IRWXO))
        code = vti_fail(VTI_E_USAGE, "%s: others may read it: chmod 600 first", path);
    else if (stat.st_size > FILE_MOST)
        code = vti_fail(VTI_E_LIMIT, "%s: is too long for credentials", path);
    else if (!(*text = calloc(1, FILE_MOST + 1)))
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else if ((got = read(fd, *text, FILE_MOST)) < 0)
        code = vti_fail_errno(VTI_E_READ, "%s: cannot read", path);
    close(fd);
    return code;
}

int vti_settings_file(struct vti_store_settings *settings, const char *path)
{
    unsigned number = 1;
    char *text;
    int code;

    if (!path)
        path = getenv("VENTURI_STORE_CREDENTIALS");
    if (!path || !*path)
        return 0;
    code = read_secret(path, &text);
    for (const char *at = text; !code && at && *at; number++) {
        size_t len = strcspn(at, "\n");

        code = take_line(settings, path, at, len, number);
        at += len;
        at += *at == '\n';
    }
    wipe(text);
    return code ? code : tidy_fingerprint(settings);
}
