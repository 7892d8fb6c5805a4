/* grid.c - grams of CO2e for a kWh, by country: the table of data/grid_intensity.csv. */
#include <venturi/energy.h>

#include "base/number.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTRIES_MOST 256

extern const char vti_table_grid[];

struct country {
    char iso3[4], iso2[3], name[40];
    double grams;
    int year;
};

/* Read once, so that the texts that are handed out stay. */
static struct country countries[COUNTRIES_MOST];
static size_t country_count;
static pthread_once_t is_read = PTHREAD_ONCE_INIT;

static void read_table(void)
{
    const char *line = vti_table_grid;

    for (; *line && country_count < COUNTRIES_MOST;
         line += strcspn(line, "\n"), line += *line == '\n') {
        struct country *country = &countries[country_count];
        int at = 0;
        char *end;

        if (sscanf(line, "%3[A-Z],%2[A-Z],%39[^,\n],%n", country->iso3, country->iso2,
                   country->name, &at) != 3 ||
            !at)
            continue;
        country->grams = vti_number_read(line + at, &end);
        country_count += end != line + at && sscanf(end, ",%d", &country->year) == 1;
    }
}

double vt_grid_intensity(const char *country, const char **iso3, const char **name, int *year)
{
    pthread_once(&is_read, read_table);
    for (size_t i = 0; country && i < country_count; i++) {
        const struct country *c = &countries[i];

        if (strcasecmp(country, c->iso3) && strcasecmp(country, c->iso2) &&
            strcasecmp(country, c->name))
            continue;
        if (iso3)
            *iso3 = c->iso3;
        if (name)
            *name = c->name;
        if (year)
            *year = c->year;
        return c->grams;
    }
    return 0;
}

const char *vt_grid_source(void)
{
    return "Ember via Our World in Data, CC BY 4.0";
}
