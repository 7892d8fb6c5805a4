/* What every key does and which question every view answers: made of the same lists that do the work. */

import { useEffect, useRef } from "preact/hooks";
import { keyGroups } from "../state/keys";
import { Button } from "./parts";

const NAMES: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  " ": "Space",
};

function Keys({ keys }: { keys: string[] }) {
  return (
    <dt>
      {keys.map((key) => (
        <kbd key={key}>{NAMES[key] ?? key}</kbd>
      ))}
    </dt>
  );
}

export interface HelpProps {
  what?: string; // that has numbers: "Views"
  views: readonly { id: string; title: string; question: string }[];
  onClose(): void;
}

export function Help({ what = "Views", views, onClose }: HelpProps) {
  const dialog = useDialog(onClose);
  const groups = keyGroups.value
    .map(({ title, actions }) => ({ title, actions: actions.filter((action) => action.title) }))
    .filter(({ actions }) => actions.length > 0);

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="help-title">
      <header>
        <h2 id="help-title">Keys and {what.toLowerCase()}</h2>
        <Button onClick={onClose}>Close</Button>
      </header>
      <div class="help">
        <section>
          <h3>{what}</h3>
          <dl>
            {views.map((view, i) => (
              <div key={view.id}>
                <Keys keys={[String(i + 1)]} />
                <dd>
                  {view.title} <span class="muted">{view.question}</span>
                </dd>
              </div>
            ))}
          </dl>
        </section>
        {groups.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.actions.map((action) => (
                <div key={action.title}>
                  <Keys keys={action.keys} />
                  <dd>{action.title}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}

/* A dialog that is open as long as it is there. Escape closes it, wherever the focus is. */
export function useDialog(onClose: () => void) {
  const dialog = useRef<HTMLDialogElement>(null);

  useEffect(() => {
    const element = dialog.current;
    const cancel = (event: Event) => {
      event.preventDefault();
      onClose();
    };
    const outside = (event: MouseEvent) => event.target === element && onClose();
    element?.showModal?.();
    element?.addEventListener("cancel", cancel);
    element?.addEventListener("click", outside);
    return () => {
      element?.removeEventListener("cancel", cancel);
      element?.removeEventListener("click", outside);
      element?.close?.();
    };
  }, []);
  return dialog;
}
