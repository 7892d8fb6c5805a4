/* Small parts that views are made of. */

import type { ComponentChildren } from "preact";
import { css, type Rgb } from "./colour";

/* A sentence in place of data. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/* One of a few: shown as a row of buttons. */
export function Choice<T extends string>(props: {
  label: string;
  options: readonly { value: T; title: string; hint?: string }[];
  value: T;
  onChange(value: T): void;
}) {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === props.value}
          title={option.hint}
          onClick={() => props.onChange(option.value)}
        >
          {option.title}
        </button>
      ))}
    </div>
  );
}

export function Button(props: {
  children: ComponentChildren;
  title?: string;
  isPressed?: boolean;
  isDisabled?: boolean;
  onClick(): void;
}) {
  return (
    <button
      type="button"
      class="button"
      title={props.title}
      aria-pressed={props.isPressed}
      disabled={props.isDisabled}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}

/* The row of controls above a view's picture. */
export function Toolbar({ children }: { children: ComponentChildren }) {
  return <div class="toolbar">{children}</div>;
}

/* Pushes what follows to the right. */
export function Gap() {
  return <span class="gap" />;
}

/* Says that numbers are those of the whole run, although a range or threads are selected. */
export function WholeRun({ hint }: { hint?: string }) {
  return (
    <span
      class="badge"
      title={hint ?? "This data has no times: the selected range and threads do not narrow it."}
    >
      whole run
    </span>
  );
}

/* Says that numbers of a part of the run are close, not exact. */
export function About() {
  return (
    <span
      class="badge"
      title="Short spans are folded in this page, several into one of the longest one's name: numbers of a part of the run are close to the real ones. Those of the whole run are exact; venturi report --events all folds nothing."
    >
      about
    </span>
  );
}

/* A share as a thin bar, behind or beside a number. */
export function Bar({ share }: { share: number }) {
  const width = `${Math.min(100, Math.max(0, share * 100)) || 0}%`;

  return (
    <span class="bar" aria-hidden="true">
      <span ref={(element) => element?.style.setProperty("width", width)} />
    </span>
  );
}

/* A colour beside its name. */
export function Swatch({ colour }: { colour: Rgb }) {
  return (
    <span
      class="swatch"
      aria-hidden="true"
      ref={(element) => element?.style.setProperty("background", css(colour))}
    />
  );
}

/* Text lines that follow the pointer; never under it, never outside the window. */
export function Tooltip(props: {
  x: number;
  y: number;
  width: number;
  height: number;
  children: ComponentChildren;
}) {
  const place = (element: HTMLElement | null) => {
    if (!element) return;
    const left =
      props.x + 16 + element.offsetWidth > props.width ? props.x - element.offsetWidth - 12 : props.x + 16;
    const top =
      props.y + 20 + element.offsetHeight > props.height ? props.y - element.offsetHeight - 12 : props.y + 20;

    element.style.left = `${Math.max(0, left)}px`;
    element.style.top = `${Math.max(0, top)}px`;
  };

  return (
    <div class="tooltip" ref={place}>
      {props.children}
    </div>
  );
}
