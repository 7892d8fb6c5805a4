/* shell.S - the page without its data, as it is built from web/, inside of the tool. */
    .section .rodata
    .balign 8
    .globl vti_page_shell
    .hidden vti_page_shell
    .type vti_page_shell, %object
vti_page_shell:
    .incbin VTI_PAGE_SHELL
    .globl vti_page_shell_end
    .hidden vti_page_shell_end
    .type vti_page_shell_end, %object
vti_page_shell_end:
    .byte 0
    .size vti_page_shell, vti_page_shell_end - vti_page_shell
    .section .note.GNU-stack, "", %progbits
