/*
 * exact_line.S - reached by a jump with the lines of a function, a row and the way back on the stack. The code it stands in may
 * be using every register and flag: what is usual touches few of them, and for the rest vectors are saved too.
 */
#define AREA 4096 /* for xsave: more than any set of registers that is not for matrices takes */
#define MASK 0xe7 /* x87, SSE, AVX, AVX-512 */

    .text
    .globl vt_exact_line
    .hidden vt_exact_line
    .type vt_exact_line, @function
vt_exact_line:
    .cfi_startproc
    .cfi_def_cfa_offset 24
    pushfq
    .cfi_adjust_cfa_offset 8
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -40
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    andq $-64, %rsp
    cld
    movq (%rbp), %rdi
    movq 24(%rbp), %rsi
    call vt_line_reach_quick@PLT
    testb %al, %al
    jnz 2f
    subq $AREA, %rsp
    xorl %eax, %eax
    movq %rax, 512(%rsp)
    movq %rax, 520(%rsp)
    movq %rax, 528(%rsp)
    movq %rax, 536(%rsp)
    movq %rax, 544(%rsp)
    movq %rax, 552(%rsp)
    movq %rax, 560(%rsp)
    movq %rax, 568(%rsp)
    xorl %edx, %edx
    movl $MASK, %eax
    xsave (%rsp)
    movq 16(%rbp), %rdi
    movq 24(%rbp), %rsi
    movq (%rbp), %rdx
    call vt_exact_reach@PLT
    xorl %edx, %edx
    movl $MASK, %eax
    xrstor (%rsp)
2:
    leaq -72(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popq %rbp
    .cfi_def_cfa %rsp, 32
    popfq
    .cfi_adjust_cfa_offset -8
    leaq 16(%rsp), %rsp
    .cfi_adjust_cfa_offset -16
    ret
    .cfi_endproc
    .size vt_exact_line, . - vt_exact_line

    .globl vt_exact_probe
    .hidden vt_exact_probe
    .type vt_exact_probe, @function
vt_exact_probe:
    .cfi_startproc
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -16
    movq %rdi, %rbp
    call 1f
    popq %rbp
    .cfi_adjust_cfa_offset -8
    ret
1:
    .cfi_adjust_cfa_offset 16
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    jmp vt_exact_line
    .cfi_endproc
    .size vt_exact_probe, . - vt_exact_probe

    .section .note.GNU-stack,"",@progbits
