import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { leave } from "../session/enter.ts";
import { PaletteDialog } from "../ui/overlay/palette-dialog.tsx";
import { type PaletteEntry, paletteEntries } from "./palette-entries.ts";
import { setPreferences } from "./preferences.ts";

/** Draws the palette, which finds pages and actions by a few letters. Ctrl or ⌘ K opens it. A pasted id opens its page. */
export function Palette({
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
  const navigate = useNavigate();
  const choose = (entry: PaletteEntry) => {
    if ("to" in entry) {
      const { to, params, search } = entry;
      void navigate({ to, params: params as never, ...(search && { search: search as never }) });
    } else act(entry.act, onKeys);
  };
  return (
    <PaletteDialog
      open={open}
      onClose={onClose}
      lines={paletteEntries(typed, projectId)}
      onType={setTyped}
      onChoose={choose}
      leads={(entry) => "to" in entry}
    />
  );
}

function act(name: string, onKeys: () => void): void {
  const [, setting, value] = /^(theme|zone)-(\w+)$/.exec(name) ?? [];
  if (setting !== undefined) setPreferences({ [setting]: value });
  else if (name === "keys") onKeys();
  else if (name === "leave") void leave();
}
