/* tables.S - the tables of data/, as they are, inside of the library. */
    .section .rodata
    .macro table name, file
    .balign 8
    .globl \name
    .hidden \name
    .type \name, %object
\name:
    .incbin "\file"
    .byte 0
    .size \name, . - \name
    .endm
    table vti_table_tdp, VTI_TABLE_TDP
    table vti_table_grid, VTI_TABLE_GRID
    .section .note.GNU-stack, "", %progbits
