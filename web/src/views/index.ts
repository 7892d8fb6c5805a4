/* The views, in the order of their tabs and keys: one line each. */

import { diff } from "./diff";
import { energy } from "./energy";
import { flame } from "./flame";
import { overview } from "./overview";
import { ranking } from "./ranking";
import { resources } from "./resources";
import { sandwich } from "./sandwich";
import { source } from "./source";
import { tasks } from "./tasks";
import { timeline } from "./timeline";
import { traces } from "./traces";
import type { View } from "./view";

export const VIEWS: View[] = [
  diff,
  overview,
  ranking,
  flame,
  sandwich,
  timeline,
  tasks,
  traces,
  source,
  resources,
  energy,
];
