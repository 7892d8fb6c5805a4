/* Light or dark: what the reader's system says, unless chosen here. Canvases take the page's colours from here. */

import { computed, signal } from "@preact/signals";

export type ThemeChoice = "system" | "light" | "dark";

/* The page's own colours as CSS writes them. */
export interface Colours {
  isDark: boolean;
  ground: string; // behind everything
  surface: string; // panels, canvases
  raised: string; // headers, hovered rows
  line: string;
  text: string;
  muted: string;
  accent: string;
  warning: string;
  error: string;
  match: string; // what the search found
}

const LIGHT: Colours = {
  isDark: false,
  ground: "#f5f6f8",
  surface: "#ffffff",
  raised: "#eef0f3",
  line: "#d5d9e0",
  text: "#1a1d23",
  muted: "#596273",
  accent: "#0b62c4",
  warning: "#8a5a00",
  error: "#b3261e",
  match: "#a3127f",
};

const DARK: Colours = {
  isDark: true,
  ground: "#14161a",
  surface: "#1b1e24",
  raised: "#262a32",
  line: "#363c47",
  text: "#e6e8ec",
  muted: "#a1a9b8",
  accent: "#6cb0ff",
  warning: "#f0b44c",
  error: "#ff8a80",
  match: "#ff8ae2",
};

const KEY = "venturi-theme";

/* Storage may be forbidden, as in a frame without rights. */
function remembered(): ThemeChoice {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

const systemIsDark = signal(false);
const isPrinting = signal(false);
export const themeChoice = signal<ThemeChoice>("system");

export const colours = computed<Colours>(() => {
  if (isPrinting.value) return { ...LIGHT, ground: LIGHT.surface };
  const choice = themeChoice.value;
  return choice === "dark" || (choice === "system" && systemIsDark.value) ? DARK : LIGHT;
});

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  try {
    if (choice === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    /* It lasts as long as the page. */
  }
}

/* Follows the system and the printer, and gives the style sheet its colours. */
export function startTheme(root: HTMLElement): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const print = matchMedia("print");

  themeChoice.value = remembered();
  systemIsDark.value = system.matches;
  system.addEventListener("change", () => (systemIsDark.value = system.matches));
  print.addEventListener("change", () => (isPrinting.value = print.matches));
  addEventListener("beforeprint", () => (isPrinting.value = true));
  addEventListener("afterprint", () => (isPrinting.value = print.matches));
  colours.subscribe((now) => {
    root.dataset.theme = now.isDark ? "dark" : "light";
    for (const [name, value] of Object.entries(now))
      if (typeof value === "string") root.style.setProperty(`--${name}`, value);
  });
}
