import type { Grant } from "@svc/gen/grants";
import type { Word } from "./word.ts";

const active: Word = { word: "active", tone: "ok", icon: "check", says: "The agent may do what is said here." };
const ended: Word = { word: "ended", tone: "plain", icon: "ban", says: "Nothing of it is taken any more." };
const keyEnded: Word = { ...ended, says: "The key that it was given with is refused, and so is the grant." };

/** How a grant stands. */
export function grantStateWord({ active: isActive, endedAt }: Pick<Grant, "active" | "endedAt">): Word {
  if (isActive) return active;
  return endedAt === undefined ? keyEnded : ended;
}

/** What an agent calls itself, else the id of its program. */
export function agentName({ clientName, clientId }: Pick<Grant, "clientName" | "clientId">): string {
  return clientName === "" ? clientId : clientName;
}

/** What a grant lets an agent do, such as "read and write tools of calendar, for ada alone". */
export function grantText({
  entityId,
  accessClasses,
  toolkitSlugs,
}: Pick<Grant, "entityId" | "accessClasses" | "toolkitSlugs">): string {
  const classes = [accessClasses.slice(0, -1).join(", "), accessClasses.at(-1) ?? "no"].filter(Boolean).join(" and ");
  const toolkits = toolkitSlugs.length === 0 ? "every toolkit" : toolkitSlugs.join(", ");
  return `${classes} tools of ${toolkits}, for ${entityId === "" ? "any entity" : `${entityId} alone`}`;
}
