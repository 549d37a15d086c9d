import { announce } from "../notice/announce.ts";

/** Copies a text and says so. Pages that are not https have no clipboard: there it is by selection. */
export async function copyText(text: string, what: string): Promise<void> {
  const copied = await write(text);
  announce(copied ? `Copied ${what}.` : `The browser did not let ${what} be copied.`, copied ? "plain" : "bad");
}

async function write(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard === undefined) return copyBySelection(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  // Within an open dialog, where there is one: it takes the focus back from everything outside.
  (document.activeElement?.parentElement ?? document.body).append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}
