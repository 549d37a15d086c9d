/** Which calls a person confirms before they are sent: none, those that destroy, or all that write. */
export const confirmScopes = ["never", "destructive", "writes"] as const;

/** Which calls a person confirms. */
export type ConfirmScope = (typeof confirmScopes)[number];

/** Which calls of a project's keys a person confirms, and the contact who is asked. */
export type ConfirmRule = { readonly person: ConfirmScope; readonly contact: string };

/** The rule of a project that has none. */
export const noConfirmRule: ConfirmRule = { person: "never", contact: "" };

/** How long a person may take to confirm a call, milliseconds. Nobody's answer is no. */
export const confirmLifeMs: number = 600_000;

/** Whether a call of a tool of a class is one that a person confirms. */
export function isConfirmedByPerson(
  { person }: ConfirmRule = noConfirmRule,
  accessClass: "read" | "write" | "destructive",
): boolean {
  if (person === "never" || accessClass === "read") return false;
  return person === "writes" || accessClass === "destructive";
}
