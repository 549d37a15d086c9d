import type { DatabaseRecording } from "./database-recording.ts";
import type { History } from "./history.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const indent = "  ";

/**
 * The text of a recording: JSON in which every member of what `isOpen` names stands on a line of its own, but for members that
 * are not worth one, and everything else on one line. `isOpen` is given the path of names and indexes from the root.
 */
function recordingText(value: unknown, isOpen: (path: readonly string[]) => boolean): string {
  return `${textOf(value as Json, [], isOpen)}\n`;
}

function textOf(value: Json, path: readonly string[], isOpen: (path: readonly string[]) => boolean): string {
  if (typeof value !== "object" || value === null || !isOpen(path)) return JSON.stringify(value);
  const members = Array.isArray(value)
    ? value.map((item: Json, index) => textOf(item, [...path, String(index)], isOpen))
    : membersOf(value as { readonly [name: string]: Json }, path, isOpen);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) return `${open}${close}`;
  const pad = indent.repeat(path.length + 1);
  return `${open}\n${members.map((member) => pad + member).join(",\n")}\n${indent.repeat(path.length)}${close}`;
}

/** The members of an object; numbers and short texts that follow each other share a line. */
function membersOf(
  value: { readonly [name: string]: Json },
  path: readonly string[],
  isOpen: (path: readonly string[]) => boolean,
): string[] {
  const lines: string[] = [];
  let isShared = false;
  for (const [name, item] of Object.entries(value)) {
    const member = `${JSON.stringify(name)}: ${textOf(item, [...path, name], isOpen)}`;
    const isShort = typeof item !== "object" && member.length < 60;
    const last = lines.at(-1);
    if (isShort && isShared && last !== undefined && last.length < 100) lines[lines.length - 1] = `${last}, ${member}`;
    else lines.push(member);
    isShared = isShort;
  }
  return lines;
}

/** The text of a history: one row, one request, one act a line. */
export function historyText(history: History): string {
  return recordingText(history, (path) => {
    const [section, , part] = path;
    switch (section) {
      case undefined:
        return true;
      case "acts":
      case "requests":
      case "more":
        return path.length === 1;
      case "before":
        return path.length <= 2;
      case "entries":
        return path.length <= 2 || ((part === "upserts" || part === "deletes") && path.length <= 4);
      case "endings":
        return path.length <= 3 || (part === "jobs" && path.length <= 6);
      default:
        return false;
    }
  });
}

/** The text of a recorded database: one row, one read, one job a line. */
export function databaseText(recording: DatabaseRecording): string {
  return recordingText(recording, ([section, ...rest]) => {
    if (section === undefined || section === "tables") return rest.length <= 1;
    return ["keys", "signingSecrets", "reads", "calls", "underWay"].includes(section) && rest.length === 0;
  });
}
