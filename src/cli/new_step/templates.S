/* templates.S - what `venturi new-step` writes, as it stands in this folder, inside of the tool. */
    .section .rodata
    .macro template name, file
    .globl vti_new_step_\name
    .hidden vti_new_step_\name
    .type vti_new_step_\name, %object
vti_new_step_\name:
    .incbin "\file"
    .byte 0
    .size vti_new_step_\name, . - vti_new_step_\name
    .endm
    template settings, settings.py.in
    template init, init.py.in
    template step, step.py.in
    template run_step, run_step.py.in
    template run_multiprocess, run_multiprocess.py.in
    template test_step, test_step.py.in
    template messages, messages.jsonl.in
    template readme, README.md.in
    template requirements, requirements.txt.in
    template dockerfile, Dockerfile.in
    template step_c, step.c.in
    template makefile, Makefile.in
    template readme_c, README-c.md.in
    .section .note.GNU-stack, "", %progbits
