/* The dashboard starts here: connects to the server that it came from and shows what that says. */

import { render } from "preact";
import { startAddress } from "../state/hash";
import { startTheme } from "../state/theme";
import "../ui/style.css";
import { App } from "./app";
import "./dashboard.css";
import { browserParts, makeFeed } from "./data/feed";
import { link, loadHistory, loadTasks, publish, refreshHistory, second, takeEvent } from "./state";

const TICK_MS = 250;
/* A tab that nobody has looked at for so long lets the server rest. */
const REST_MS = 60_000;
const RELOAD_MS = 60_000;

const root = document.getElementById("app")!;
let isAsked = false;

const feed = makeFeed(browserParts(), {
  onLink: (now) => (link.value = now),
  onConnect: () => (isAsked = false),
  onEvent(kind, data) {
    const isFirst = takeEvent(kind, data);
    /* What was before, and what was missed. */
    if (isFirst || (kind === "state" && !isAsked)) {
      isAsked = true;
      void loadHistory();
      void loadTasks();
    }
  },
});

function watchVisibility(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isResting = false;

  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden)
      timer = setTimeout(() => {
        isResting = true;
        feed.rest();
      }, REST_MS);
    else if (isResting) {
      isResting = false;
      feed.connect();
    }
  });
}

startTheme(document.documentElement);
startAddress("status");
watchVisibility();
setInterval(() => !document.hidden && link.peek().state === "live" && publish(), TICK_MS);
setInterval(() => second.value++, 1000);
setInterval(() => !document.hidden && link.peek().state === "live" && refreshHistory(), RELOAD_MS);
root.textContent = "";
render(<App connect={feed.connect} />, root);
feed.connect();
