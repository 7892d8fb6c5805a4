/* What a panel is. To add one: a file in panels/ that exports a Panel, and one line in panels/index.ts. */

import type { ComponentType } from "preact";
import type { State } from "./data/types";

export interface PanelProps {
  state: State;
}

export interface Panel {
  id: string; // of its element
  title: string;
  question: string; // that it answers
  width: "whole" | "most" | "half" | "rest"; // of the page, where that is wide
  /* null: there is something to show; else why not, in a sentence that says what to do. "" says nothing: few need it. */
  missing(state: State): string | null;
  component: ComponentType<PanelProps>;
}
