import { useParts } from "./later.ts";
import { PartsFailed } from "./parts-failed.tsx";
import type { DialogProps } from "./props.ts";

/**
 * A dialog over the page. The Escape key closes the dialog. By default, a press outside of the dialog closes it too. If
 * `hideOnInteractOutside` is false, such a press does nothing, so that typed input is not lost. `actions`: buttons at the end of the
 * dialog, the main button last.
 */
export function Dialog(props: DialogProps) {
  const loaded = useParts(props.open);
  if (loaded === undefined) return <PartsFailed open={props.open} onClose={props.onClose} />;
  return <loaded.OpenDialog {...props} />;
}
