import { PartFailed } from "../notice/part-failed.tsx";
import { loadParts, usePartsLost } from "./later.ts";

/** Shown in place of a dialog that is open if its file could not be loaded. Otherwise draws nothing. */
export function PartsFailed({ open, onClose }: { open: boolean; onClose: () => void }) {
  const isLost = usePartsLost();
  return open && isLost ? <PartFailed onRetry={() => void loadParts()} onClose={onClose} /> : null;
}
