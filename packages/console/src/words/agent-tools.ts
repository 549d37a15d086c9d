import type { ApiKey } from "@svc/gen/admin";

/** What a key or grant is given beside the tools of apps, such as "Beside the tools of apps: programs, connect."; undefined for nothing. */
export function agentToolsText({ agentTools }: Pick<ApiKey, "agentTools">): string | undefined {
  return agentTools.length === 0 ? undefined : `Beside the tools of apps: ${agentTools.join(", ")}.`;
}

/** Which calls a person confirms, and who is asked; undefined where a key or grant asks for nobody. */
export function confirmText(confirm: { person: string; contact: string } | undefined): string | undefined {
  if (confirm === undefined || confirm.person === "" || confirm.person === "never") return undefined;
  const calls = confirm.person === "writes" ? "calls that write or destroy" : `${confirm.person} calls`;
  return `Its ${calls} wait until ${confirm.contact} confirms them.`;
}
