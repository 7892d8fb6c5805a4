/* What views remember of themselves in the address, one option at a time: "flame.mode" and its like. */

import { viewOptions } from "./selection";

export function option<T extends string>(name: string, allowed: readonly T[]): T {
  const value = viewOptions.value[name] as T | undefined;
  return value !== undefined && allowed.includes(value) ? value : allowed[0]!;
}

export function textOption(name: string): string {
  return viewOptions.value[name] ?? "";
}

/* The first of the allowed values is the usual one: it is not written, "" neither. */
export function setOption(name: string, value: string, usual = ""): void {
  const { [name]: last, ...others } = viewOptions.peek();
  if ((last ?? usual) === value) return;
  viewOptions.value = value === usual || value === "" ? others : { ...others, [name]: value };
}
