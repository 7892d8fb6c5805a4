/* test_energy_tables.c - powers of processors by their names, carbon of countries by codes and names. */
#include "energy/tables.h"
#include <venturi/energy.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_processors(void **state)
{
    static const struct {
        const char *name;
        enum vti_tdp found;
        double watts;
    } cases[] = {
        {"AMD EPYC 7702 64-Core Processor", VTI_TDP_FOUND, 200},
        {"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", VTI_TDP_FOUND, 120},
        {"INTEL XEON E5-2603 V4", VTI_TDP_FOUND, 85},
        {"AMD Ryzen 7 5800X 8-Core Processor", VTI_TDP_FOUND, 105},
        {"AMD Ryzen 7 5800H with Radeon Graphics", VTI_TDP_FOUND, 45},
        {"AMD Ryzen 7 5800", VTI_TDP_FOUND, 65},
        {"11th Gen Intel(R) Core(TM) i7-11700K @ 3.60GHz", VTI_TDP_FOUND, 125},
        {"Intel(R) Core(TM) i5-10505 CPU @ 3.20GHz", VTI_TDP_FOUND, 65},
        {"AMD EPYC", VTI_TDP_AMBIGUOUS, 0},
        {"AMD EPYC Processor", VTI_TDP_UNKNOWN, 0},
        {"Intel Xeon Processor (Skylake, IBRS)", VTI_TDP_UNKNOWN, 0},
        {"Intel(R) Xeon(R) CPU E5-2680 v9 @ 2.40GHz", VTI_TDP_UNKNOWN, 0}, /* not that of v0 */
        {"AMD EPYC 7R32", VTI_TDP_UNKNOWN, 0},
        {"QEMU Virtual CPU version 2.5+", VTI_TDP_UNKNOWN, 0},
        {"", VTI_TDP_UNKNOWN, 0},
        {" @ (R)", VTI_TDP_UNKNOWN, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char entry[96] = "";
        double watts = 0;
        enum vti_tdp found = vti_tdp_find(cases[i].name, &watts, entry, sizeof entry);

        if (found != cases[i].found || (!found && watts != cases[i].watts))
            fail_msg("%s: %d, %g W (%s)", cases[i].name, found, watts, entry);
    }
}

static void test_long_names(void **state)
{
    char name[4096];
    char entry[8];
    double watts;

    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    assert_int_equal(vti_tdp_find(name, &watts, entry, sizeof entry), VTI_TDP_UNKNOWN);
    for (size_t i = 0; i < sizeof name - 1; i += 2)
        name[i] = ' ';
    assert_int_equal(vti_tdp_find(name, &watts, entry, sizeof entry), VTI_TDP_UNKNOWN);
}

static void test_countries(void **state)
{
    static const char *const names[] = {"FRA", "fr", "France", "FRANCE"};
    static const char *const unknown[] = {"", "Atlantis", "F", "iso3", "FRA,", "World"};
    const char *iso3;
    const char *name;
    int year;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        year = 0;
        assert_true(vt_grid_intensity(names[i], &iso3, &name, &year) == 56.0);
        assert_string_equal(iso3, "FRA");
        assert_string_equal(name, "France");
        assert_in_range(year, 2020, 2030);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_true(vt_grid_intensity(unknown[i], &iso3, &name, &year) == 0);
    assert_true(vt_grid_intensity(NULL, NULL, NULL, NULL) == 0);
    assert_true(vt_grid_intensity("GB", NULL, NULL, NULL) > 200);
    assert_true(vt_grid_intensity("Cote d'Ivoire", NULL, NULL, NULL) > 0);
    assert_true(vt_grid_intensity("ZW", NULL, NULL, NULL) == 297.9); /* the last one */
    assert_non_null(strstr(vt_grid_source(), "CC BY 4.0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_countries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
