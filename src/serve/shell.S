/* shell.S - the dashboard, as it is built from web/, inside of the server. */
    .section .rodata
    .balign 8
    .globl vti_dashboard_page
    .hidden vti_dashboard_page
    .type vti_dashboard_page, %object
vti_dashboard_page:
    .incbin VTI_DASHBOARD
    .globl vti_dashboard_page_end
    .hidden vti_dashboard_page_end
    .type vti_dashboard_page_end, %object
vti_dashboard_page_end:
    .byte 0
    .size vti_dashboard_page, vti_dashboard_page_end - vti_dashboard_page
    .section .note.GNU-stack, "", %progbits
