/*
 * elasticsearch_setup.c - an index template for the documents of steps, and a life cycle that deletes old indices: ILM where it is
 * Elasticsearch, ISM where it is OpenSearch, and neither where the server has none.
 */
#include "store/elasticsearch.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITY "200" /* above that of the templates that come with Elasticsearch, 100 */
#define FIELDS "2000"

enum dialect { ELASTICSEARCH, OPENSEARCH };

struct setting {
    struct vti_es *store;
    const struct vti_setup *setup;
    struct vti_buf body, path;
    enum dialect dialect;
    unsigned major, minor;
    bool has_cycle; /* the template may name a policy */
};

static const char *text(struct vti_buf *buf)
{
    vti_buf_add_u8(buf, 0);
    if (buf->failed)
        return "";
    buf->len--;
    return (const char *)buf->data;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void add_keyword(struct vti_buf *out, const char *name, const char *more)
{
    vti_buf_printf(out, "\"%s\":{\"type\":\"keyword\"%s}", name, more);
}

/* `source` and `source.keyword` are both asked for: the second is what a dynamic mapping would have made. */
static void add_mappings(struct vti_buf *out)
{
    static const char *const seconds[] = {"execution_time", "pre_execute_time", "post_execute_time",
                                          "produce_time", "queue_time"};
    static const char sub[] = ",\"fields\":{\"keyword\":{\"type\":\"keyword\"}}";

    vti_buf_add_text(out, "{\"dynamic\":true,\"properties\":{\"@timestamp\":{\"type\":"
                          "\"date_nanos\"},\"timestamp_received\":{\"type\":\"date_nanos\"},"
                          "\"timestamp_sent\":{\"type\":\"date_nanos\"},");
    add_keyword(out, "source", sub);
    vti_buf_add_u8(out, ',');
    add_keyword(out, "survey", sub);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        vti_buf_printf(out, ",\"%s\":{\"type\":\"double\",\"ignore_malformed\":true}", seconds[i]);
    vti_buf_add_text(out,
                     ",\"n_messages\":{\"type\":\"long\",\"ignore_malformed\":true},\"failed\":{"
                     "\"type\":\"boolean\"},\"host\":{\"properties\":{\"name\":{\"type\":"
                     "\"keyword\"}}},\"process\":{\"properties\":{\"pid\":{\"type\":\"long\"},"
                     "\"name\":{\"type\":\"keyword\"}}}},\"dynamic_templates\":[{\"labels\":{"
                     "\"path_match\":\"labels.*\",\"mapping\":{\"type\":\"keyword\"}}},{\"texts\":{"
                     "\"match_mapping_type\":\"string\",\"mapping\":{\"type\":\"keyword\","
                     "\"ignore_above\":1024,\"fields\":{\"keyword\":{\"type\":\"keyword\","
                     "\"ignore_above\":1024}}}}}]}");
}

static void add_template(struct setting *it)
{
    const struct vti_setup *setup = it->setup;
    struct vti_buf *out = &it->body;
    bool is_legacy = it->dialect == ELASTICSEARCH && it->major == 7 && it->minor < 8;

    vti_buf_clear(out);
    vti_buf_printf(out, "{\"index_patterns\":[\"%s-*\"],", setup->prefix);
    vti_buf_add_text(out, is_legacy ? "\"order\":" PRIORITY ","
                                    : "\"priority\":" PRIORITY ",\"template\":{");
    vti_buf_printf(out,
                   "\"settings\":{\"index.number_of_shards\":%u,\"index.number_of_replicas\":%u,"
                   "\"index.mapping.total_fields.limit\":" FIELDS,
                   setup->shards, setup->replicas);
    if (it->has_cycle && it->dialect == ELASTICSEARCH)
        vti_buf_printf(out, ",\"index.lifecycle.name\":\"venturi-%s\"", setup->prefix);
    vti_buf_add_text(out, "},\"mappings\":");
    add_mappings(out);
    vti_buf_add_text(out, is_legacy ? "}" : "}}");
    vti_buf_clear(&it->path);
    vti_buf_printf(&it->path, "/%s/venturi-%s", is_legacy ? "_template" : "_index_template",
                   setup->prefix);
}

static void add_policy(struct setting *it)
{
    const struct vti_setup *setup = it->setup;
    struct vti_buf *out = &it->body;

    vti_buf_clear(out);
    vti_buf_clear(&it->path);
    if (it->dialect == ELASTICSEARCH) {
        vti_buf_printf(&it->path, "/_ilm/policy/venturi-%s", setup->prefix);
        vti_buf_printf(out,
                       "{\"policy\":{\"phases\":{\"hot\":{\"actions\":{}},\"delete\":{\"min_age\":"
                       "\"%ud\",\"actions\":{\"delete\":{}}}}}}",
                       setup->keep_days);
        return;
    }
    vti_buf_printf(&it->path, "/_plugins/_ism/policies/venturi-%s", setup->prefix);
    vti_buf_printf(out,
                   "{\"policy\":{\"description\":\"Documents of Venturi\",\"default_state\":"
                   "\"hot\",\"states\":[{\"name\":\"hot\",\"actions\":[],\"transitions\":[{"
                   "\"state_name\":\"delete\",\"conditions\":{\"min_index_age\":\"%ud\"}}]},{"
                   "\"name\":\"delete\",\"actions\":[{\"delete\":{}}],\"transitions\":[]}],"
                   "\"ism_template\":[{\"index_patterns\":[\"%s-*\"],\"priority\":" PRIORITY "}]}}",
                   setup->keep_days, setup->prefix);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int fail_away(struct setting *it)
{
    const struct vti_http_answer *answer = &it->store->answer;
    const char *shown = it->store->settings->shown;

    if (!answer->status)
        return vti_fail(VTI_E_READ, "%s: cannot be reached: %s", shown, answer->why);
    vti_es_error(it->store, answer);
    if (answer->status == 401 || answer->status == 403)
        return vti_fail(VTI_E_USAGE, "%s: these credentials may not set it up (%ld)%s%s", shown,
                        answer->status, it->store->text.len ? ": " : "",
                        (const char *)it->store->text.data);
    return vti_fail(VTI_E_READ, "%s: answers %ld to %s%s%s", shown, answer->status, text(&it->path),
                    it->store->text.len ? ": " : "", (const char *)it->store->text.data);
}

/* What a 400 is about: nobody listens there, which 7 takes for the name of an index; or the body. */
static bool is_unknown_path(struct vti_es *store)
{
    return !store->kind.len || !strcmp(text(&store->kind), "invalid_index_name_exception");
}

/* Sends it, or only says so. 0, 1: the server has no such thing, or a negative code. */
static int put(struct setting *it, const char *what)
{
    const struct vti_http_request request = {.method = "PUT",
                                             .path = text(&it->path),
                                             .type = "application/json",
                                             .body = it->body.data,
                                             .body_bytes = it->body.len};
    struct vti_http_answer *answer = &it->store->answer;
    struct vti_buf *out = it->setup->out;
    int code;

    if (it->body.failed || it->path.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (it->setup->is_dry_run) {
        vti_buf_printf(out, "PUT %s\n%s\n", request.path, text(&it->body));
        return 0;
    }
    code = vti_http_ask(it->store->http, &request, answer);
    if (code)
        return code;
    if (answer->status >= 200 && answer->status < 300) {
        vti_buf_printf(out, "%s: %s\n", what, request.path);
        return 0;
    }
    if (answer->status == 404 || answer->status == 405 || answer->status == 400) {
        vti_es_error(it->store, answer);
        if (answer->status != 400 || is_unknown_path(it->store))
            return 1;
    }
    return fail_away(it);
}

static int get(struct setting *it, const char *path)
{
    const struct vti_http_request request = {.method = "GET", .path = path};

    return vti_http_ask(it->store->http, &request, &it->store->answer);
}

/* A member of the object at hand, or of one inside it: its text into `to`. */
static bool find_member(struct vti_es *store, const char *outer, const char *name,
                        struct vti_buf *to)
{
    struct vti_json_scan scan = {.at = (const char *)store->answer.body.data,
                                 .end = (const char *)store->answer.body.data +
                                        store->answer.body.len};
    const char *wanted = outer ? outer : name;
    bool is_first = true;

    vti_buf_clear(to);
    if (!vti_json_take(&scan, '{'))
        return false;
    while (vti_json_next_key(&scan, &is_first, &store->key)) {
        const char *begin;

        if (strcmp(text(&store->key), wanted)) {
            vti_json_skip(&scan);
        } else if (wanted == outer && outer && vti_json_take(&scan, '{')) {
            wanted = name;
            is_first = true;
        } else if (vti_json_peek(&scan) == '"') {
            return vti_json_scan_string(&scan, to);
        } else {
            begin = scan.at;
            vti_json_skip(&scan);
            vti_buf_add(to, begin, (size_t)(scan.at - begin));
            text(to);
            return !scan.failed;
        }
    }
    return false;
}

static int ask_dialect(struct setting *it)
{
    struct vti_es *store = it->store;
    const struct vti_setup *setup = it->setup;
    int code;

    it->major = 8;
    if (setup->dialect) {
        it->dialect = strcmp(setup->dialect, "opensearch") ? ELASTICSEARCH : OPENSEARCH;
        return 0;
    }
    code = get(it, "/");
    if (code)
        return code;
    if ((store->answer.status == 403 || store->answer.status == 401) &&
        !strcmp(store->settings->scheme, "opensearch")) {
        it->dialect = OPENSEARCH; /* a restricted key may not ask; the URL says it */
        return 0;
    }
    if (store->answer.status == 403)
        return 0;
    vti_buf_add_text(&it->path, "/");
    if (store->answer.status != 200)
        return fail_away(it);
    if (!find_member(store, "version", "number", &store->text))
        return vti_fail(VTI_E_USAGE, "%s: answers, but not as Elasticsearch or OpenSearch do",
                        store->settings->shown);
    sscanf(text(&store->text), "%u.%u", &it->major, &it->minor);
    vti_buf_printf(setup->out, "server: %s", text(&store->text));
    if (find_member(store, "version", "distribution", &store->text) &&
        !strcmp(text(&store->text), "opensearch"))
        it->dialect = OPENSEARCH;
    vti_buf_printf(setup->out, " (%s)\n",
                   it->dialect == OPENSEARCH ? "OpenSearch" : "Elasticsearch");
    if (it->dialect == ELASTICSEARCH && it->major < 7)
        return vti_fail(VTI_E_USAGE, "%s: is Elasticsearch %u; 7 or newer is needed",
                        store->settings->shown, it->major);
    return 0;
}

/* OpenSearch replaces a policy only for who knows which one. */
static int note_version(struct setting *it)
{
    struct vti_es *store = it->store;
    struct vti_buf seq = {0}, term = {0};
    int code;

    if (it->dialect != OPENSEARCH || it->setup->is_dry_run)
        return 0;
    code = get(it, text(&it->path));
    if (!code && store->answer.status == 200 && find_member(store, NULL, "_seq_no", &seq) &&
        find_member(store, NULL, "_primary_term", &term))
        vti_buf_printf(&it->path, "?if_seq_no=%s&if_primary_term=%s", text(&seq), text(&term));
    vti_buf_fini(&seq);
    vti_buf_fini(&term);
    return code;
}

static int put_policy(struct setting *it)
{
    int code;

    if (!it->setup->keep_days)
        return 0;
    add_policy(it);
    code = note_version(it);
    if (!code)
        code = put(it, "life cycle");
    if (code == 1)
        vti_buf_printf(it->setup->out,
                       "life cycle: this server has no %s: indices stay until somebody "
                       "deletes them\n",
                       it->dialect == OPENSEARCH ? "ISM plugin" : "ILM");
    it->has_cycle = !code;
    return code < 0 ? code : 0;
}

/* A name that can stand in patterns and paths as it is. */
static int check_prefix(const char *prefix)
{
    if (!*prefix || strchr("-_+.", *prefix) || strlen(prefix) > 100)
        return vti_fail(VTI_E_USAGE, "--prefix %s: is no beginning of an index's name", prefix);
    for (const char *c = prefix; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && !strchr("-_.", *c))
            return vti_fail(VTI_E_USAGE,
                            "--prefix %s: is of lower-case letters, digits, dashes and underscores",
                            prefix);
    return 0;
}

int vti_es_setup(struct vti_es *store, const struct vti_setup *setup)
{
    struct setting it = {.store = store, .setup = setup};
    int code = check_prefix(setup->prefix);

    if (!code)
        code = ask_dialect(&it);
    if (!code)
        code = put_policy(&it);
    if (!code) {
        add_template(&it);
        code = put(&it, "template");
        if (code == 1)
            code = fail_away(&it);
    }
    vti_buf_fini(&it.body);
    vti_buf_fini(&it.path);
    return code;
}
