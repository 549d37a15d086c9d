import { useNavigate } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { leave } from "../session/enter.ts";
import { laterPart } from "../ui/later-part.tsx";
import { useParts } from "../ui/overlay/later.ts";
import { PartsFailed } from "../ui/overlay/parts-failed.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { type Found, type PaletteEntry, paletteEntries } from "./palette-entries.ts";
import { setPreferences } from "./preferences.ts";

const PaletteSearch = laterPart(() => import("./palette-search.tsx"), SearchFailed);

/**
 * Draws the palette (search for pages and actions) or the list of keyboard shortcuts. The browser loads this code after the first page.
 * `shown`: the dialog that is open.
 */
export default function ShellDialogs({
  shown,
  projectId,
  onClose,
  onKeys,
}: {
  shown: "palette" | "keys" | undefined;
  projectId: string;
  onClose: () => void;
  onKeys: () => void;
}) {
  return (
    <>
      <Palette open={shown === "palette"} onClose={onClose} projectId={projectId} onKeys={onKeys} />
      <KeysDialog open={shown === "keys"} onClose={onClose} projectId={projectId} />
    </>
  );
}

/**
 * Draws the palette, which finds pages, actions, and the resources of the project by id or text. Ctrl or ⌘ K opens it. Pages and actions
 * appear at once, and resources when the service has found them.
 */
function Palette({
  open,
  onClose,
  projectId,
  onKeys,
}: {
  open: boolean;
  onClose: () => void;
  projectId: string;
  /** Called when the user asks for the keyboard shortcuts. */
  onKeys: () => void;
}) {
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState<Found>();
  const navigate = useNavigate();
  const parts = useParts(open);
  useEffect(() => {
    if (open) return;
    // The next time the palette opens, its field is empty.
    setTyped("");
    setFound(undefined);
  }, [open]);
  const choose = (entry: PaletteEntry) => {
    if ("to" in entry) {
      const { to, params, search } = entry;
      void navigate({ to, params: params as never, ...(search && { search: search as never }) });
    } else act(entry.act, onKeys);
  };
  const own = paletteEntries(typed, projectId);
  const others = found?.entries.filter(({ id }) => !own.some((entry) => entry.id === id)) ?? [];
  const lines = [...own, ...others];
  return (
    <>
      {parts === undefined ? (
        <PartsFailed open={open} onClose={onClose} />
      ) : (
        <parts.OpenPalette
          open={open}
          onClose={onClose}
          lines={lines}
          onType={setTyped}
          onChoose={choose}
          leads={(entry) => "to" in entry}
          hint={found?.hint || (lines.length === 0 ? "No results." : "")}
        />
      )}
      <Suspense>
        {open && projectId !== "admin" && (
          <PaletteSearch text={typed.trim()} projectId={projectId} onFound={setFound} />
        )}
      </Suspense>
    </>
  );
}

/** Reports to the palette that its search could not be loaded. The file is loaded again when the palette opens next. */
function SearchFailed({ onFound }: { onFound: (found: Found) => void }) {
  useEffect(() => onFound({ entries: [], hint: "The search of resources could not be loaded." }), [onFound]);
  return null;
}

function act(name: string, onKeys: () => void): void {
  const [, setting, value] = /^(theme|zone)-(\w+)$/.exec(name) ?? [];
  if (setting !== undefined) setPreferences({ [setting]: value });
  else if (name === "keys") onKeys();
  else if (name === "leave") void leave();
}
