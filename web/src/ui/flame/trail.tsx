/* The way from the root to where one is, each step a button. */

export function Trail(props: { trail: number[]; text(node: number): string; onZoom(node: number): void }) {
  const { trail } = props;
  const most = 5;
  const shown = trail.length <= most ? trail : [trail[0]!, ...trail.slice(1 - most)];
  const left = trail.length - shown.length;

  if (trail.length < 2) return null;
  return (
    <nav class="trail" aria-label="Zoom">
      {shown.map((node, i) => (
        <span key={node}>
          {i > 0 && <span aria-hidden="true"> › </span>}
          {i === 1 && left > 0 && <span class="muted">… › </span>}
          <button type="button" aria-current={i === shown.length - 1} onClick={() => props.onZoom(node)}>
            {props.text(node)}
          </button>
        </span>
      ))}
    </nav>
  );
}
