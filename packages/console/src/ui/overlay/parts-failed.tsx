import { PartFailed } from "../notice/part-failed.tsx";
import { loadParts, usePartsLost } from "./later.ts";

/** Draws a message in place of an open dialog if the code of dialogs could not be loaded. Otherwise draws nothing. */
export function PartsFailed({ open, onClose }: { open: boolean; onClose: () => void }) {
  const isLost = usePartsLost();
  return open && isLost ? <PartFailed onRetry={() => void loadParts()} onClose={onClose} /> : null;
}
