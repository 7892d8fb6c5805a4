/* What a view is. To add one: a folder here with an index.tsx that exports a View, and one line in index.ts. */

import type { ComponentType } from "preact";
import type { PageData } from "../data/types";
import type { Worker } from "../data/work";

export interface ViewProps {
  data: PageData;
  worker: Worker;
}

export interface View {
  id: string; // in the address after #
  title: string;
  question: string; // that it answers, for the tooltip and the help
  /* null: there is something to show; else why not, in a sentence that says what to do. */
  missing(data: PageData): string | null;
  /* Most pages have nothing for it, and need not say so: without that it has no tab. */
  isOffered?(data: PageData): boolean;
  component: ComponentType<ViewProps>;
}
