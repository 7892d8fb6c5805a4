/* energy_text.c - what a program used in sentences, each number with where it is from. */
#include "base/error.h"
#include "cli/energy.h"
#include "cli/prose.h"
#include "cli/render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOULES_KWH 3.6e6

/* Three digits, of whatever size. */
static const char *with_unit(char *to, size_t room, double value, const char *unit)
{
    static const char *const prefixes[] = {"u", "m", "", "k", "M", "G"};
    unsigned at = 2;
    double size = fabs(value);

    if (isnan(value)) {
        snprintf(to, room, "-");
        return to;
    }
    while (size >= 999.5 && at + 1 < sizeof prefixes / sizeof *prefixes) {
        size /= 1000;
        value /= 1000;
        at++;
    }
    while (size > 0 && size < 0.9995 && at > 0) {
        size *= 1000;
        value *= 1000;
        at--;
    }
    snprintf(to, room,
             size >= 99.95   ? "%.0f %s%s"
             : size >= 9.995 ? "%.1f %s%s"
                             : "%.2f %s%s",
             value, prefixes[at], unit);
    return to;
}

const char *vti_text_joules(char to[VTI_JOULES_BYTES], double joules)
{
    return with_unit(to, VTI_JOULES_BYTES, joules, "J");
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* "CPU 12.3 J measured (powercap: package-0)" */
static void add_part(struct vti_sentence *sentence, const struct vti_energy_tree *tree,
                     uint32_t part)
{
    const struct vti_energy_use *use = &tree->parts[part];
    const char *from = "";
    char joules[VTI_JOULES_BYTES];

    if (!use->has_source)
        return;
    for (uint32_t i = 0; i < tree->log->source_count; i++)
        if (tree->log->sources[i].is_defined && tree->log->sources[i].part == part)
            from = tree->log->sources[i].from;
    vti_sentence_add(sentence, "%s %s %s (%s)", vti_energy_part_name(part),
                     vti_text_joules(joules, use->gross_j), vti_energy_how_name(use->how), from);
}

static int print_machine(const struct vti_energy_tree *tree)
{
    struct vti_sentence sentence;
    char joules[VTI_JOULES_BYTES], time[VTI_NUMBER_BYTES];

    vti_sentence_start(&sentence, "machine: ");
    sentence.width = vti_prose_width();
    vti_sentence_add(&sentence, "%s in %s", vti_text_joules(joules, tree->all.gross_j),
                     vti_text_duration(time, tree->wall_s * 1e9));
    for (uint32_t i = 0; i < VT_ENERGY_PART_COUNT; i++)
        add_part(&sentence, tree, i);
    if (tree->unknown_s > 0)
        vti_sentence_add(&sentence, "not known for %s of it",
                         vti_text_duration(time, tree->unknown_s * 1e9));
    return vti_sentence_print(&sentence);
}

static int print_program(const struct vti_energy_tree *tree)
{
    struct vti_sentence sentence;
    char joules[VTI_JOULES_BYTES], watts[VTI_JOULES_BYTES], time[VTI_NUMBER_BYTES];

    vti_sentence_start(&sentence, "program: ");
    sentence.width = vti_prose_width();
    vti_sentence_add(&sentence, "full share %s", vti_text_joules(joules, tree->all.full_j));
    vti_sentence_add(&sentence, "beyond rest %s", vti_text_joules(joules, tree->all.dynamic_j));
    if (isnan(tree->own_s))
        vti_sentence_add(&sentence, "CPU time not known");
    else
        vti_sentence_add(&sentence, "CPU time %s", vti_text_duration(time, tree->own_s * 1e9));
    if (tree->busy_s > 0)
        vti_sentence_add(&sentence, "%.3g %% of the busy time",
                         fmin(tree->own_s / tree->busy_s, 1) * 100);
    if (!isnan(tree->rest_watts))
        vti_sentence_add(
            &sentence, "rest %s %s%s", with_unit(watts, sizeof watts, tree->rest_watts, "W"),
            vti_energy_how_name(tree->rest_how), tree->log->rest_for_ns ? " (baseline)" : "");
    else
        vti_sentence_add(&sentence, "rest not known");
    return vti_sentence_print(&sentence);
}

/* What the share stands for in the world; an unknown place is said, never guessed. */
static int print_footing(const struct vti_energy_view *view, const struct vti_energy_tree *tree)
{
    const struct vti_footing *footing = &view->footing;
    double joules = tree->all.full_j;
    struct vti_sentence sentence;
    char text[VTI_JOULES_BYTES];

    vti_sentence_start(&sentence, "emissions: ");
    sentence.width = vti_prose_width();
    vti_sentence_add(&sentence, "%s",
                     with_unit(text, sizeof text, joules / JOULES_KWH * 1000, "Wh"));
    if (footing->pue > 1)
        vti_sentence_add(&sentence, "PUE %g", footing->pue);
    if (footing->source[0])
        vti_sentence_add(&sentence, "%s of CO2e",
                         with_unit(text, sizeof text, vti_footing_grams(footing, joules), "g"));
    else
        vti_sentence_add(&sentence, "CO2e not known");
    if (footing->wue > 0)
        vti_sentence_add(&sentence, "%s of water",
                         with_unit(text, sizeof text, vti_footing_litres(footing, joules), "l"));
    return vti_sentence_print(&sentence);
}

int vti_energy_print_prose(const char *before, const char *text)
{
    struct vti_buf safe = {0};
    struct vti_buf out = {0};
    int code;

    vti_text_safe(&safe, text, strlen(text));
    vti_buf_add_text(&out, before);
    vti_prose_wrap(&out, (const char *)safe.data, safe.len, vti_prose_width(),
                   before[0] == '\n' ? 0 : (unsigned)strlen(before));
    vti_buf_add_u8(&out, '\n');
    code = out.failed || safe.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
    if (!code)
        fwrite(out.data, 1, out.len, stdout);
    vti_buf_fini(&safe);
    vti_buf_fini(&out);
    return code;
}

static int print_notes(const struct vti_energy_tree *tree)
{
    int code = 0;

    for (size_t i = 0; i < tree->log->note_count && !code; i++)
        code = vti_energy_print_prose("note: ", tree->log->notes[i].text);
    return code;
}

/* Where the grams come from, once for all machines. */
static int print_place(const struct vti_footing *footing)
{
    char text[sizeof footing->source + 64];

    if (!footing->source[0])
        return vti_energy_print_prose("note: ",
                                      "CO2e is not known: --country or --intensity says where the "
                                      "power comes from");
    snprintf(text, sizeof text, "%g g of CO2e a kWh: %s", footing->intensity, footing->source);
    return vti_energy_print_prose("note: ", text);
}

int vti_energy_print_sums(const struct vti_energy_view *view)
{
    int code = 0;

    for (size_t i = 0; i < view->energy->tree_count && !code; i++) {
        const struct vti_energy_tree *tree = &view->energy->trees[i];

        if (tree->all.has_source) {
            code = print_machine(tree);
            if (!code)
                code = print_program(tree);
            if (!code)
                code = print_footing(view, tree);
        }
        if (!code)
            code = print_notes(tree);
    }
    return code || !view->energy->tree_count ? code : print_place(&view->footing);
}

/* ---- items ----------------------------------------------------------------------------------- */

static void add_rate(struct vti_sentence *sentence, double items, double seconds, const char *what)
{
    if (seconds > 0)
        vti_sentence_add(sentence, "%.4g/s %s", items / seconds, what);
}

int vti_energy_print_items(const struct vti_energy_view *view)
{
    const struct vti_items *items = &view->energy->items;
    double joules = 0;
    struct vti_sentence sentence;
    char text[VTI_JOULES_BYTES], time[VTI_NUMBER_BYTES];

    if (!items->is_counted)
        return 0;
    for (size_t i = 0; i < view->energy->tree_count; i++)
        joules += view->energy->trees[i].all.full_j;
    vti_sentence_start(&sentence, "items: ");
    sentence.width = vti_prose_width();
    vti_sentence_add(&sentence, "%.15g in %s", items->raw,
                     vti_text_duration(time, items->wall_s * 1e9));
    add_rate(&sentence, items->raw, items->wall_s, "raw");
    if (items->has_effective)
        add_rate(&sentence, items->effective, items->wall_s, "effective");
    if (items->has_effective && items->effective > items->raw)
        vti_sentence_add(&sentence, "more done than begun: one of the two counts is wrong");
    add_rate(&sentence, items->raw, items->wall_s * items->cores, "a core");
    add_rate(&sentence, items->raw, items->cpu_s, "of CPU time");
    if (view->energy->tree_count && items->raw > 0) {
        vti_sentence_add(&sentence, "%s per 1,000",
                         vti_text_joules(text, joules / items->raw * 1000));
        if (view->footing.source[0])
            vti_sentence_add(
                &sentence, "%s of CO2e per 1,000",
                with_unit(text, sizeof text,
                          vti_footing_grams(&view->footing, joules) / items->raw * 1000, "g"));
    }
    return vti_sentence_print(&sentence);
}
