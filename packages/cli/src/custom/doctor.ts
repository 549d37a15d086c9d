import type { DoctorFinding } from "@svc/server/doctor";
import { command } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";

const styles = { ok: "green", warning: "bold", error: "red" } as const;

/** The command `svc doctor`, which checks the configuration, the database and the machine of a deployment without changing anything. */
export const addDoctorCommand = command(
  undefined,
  {
    says: "check the configuration, the database and the machine of a service; each problem has a mend, and nothing is changed",
    json: "the list of {check, state, message, mend} as JSON; state is ok, warning or error",
    client: "none",
    more: "\nRun it with the variables and the account of the service. It does not start the embedded database.\nThe exit code is 0 if all is right, 1 if there are warnings, and 2 if there are errors.",
    examples: ["svc doctor", "SVC_ENV_FILE=/etc/svc/env SVC_DATA_DIR=/var/lib/svc svc doctor", "svc doctor --json"],
  },
  async ({ context, asJson }) => {
    // Loads the server only here, so that other commands start without it.
    const { examineDeployment } = await import("@svc/server/doctor");
    const findings = await examineDeployment(() => context.environment);
    if (asJson) context.print(JSON.stringify(findings, undefined, 2));
    else for (const line of findings.flatMap((finding) => linesOf(finding, context.style))) context.print(line);
    const [errors, warnings] = (["error", "warning"] as const).map((state) => countOf(findings, state));
    if (errors === undefined && warnings === undefined) return;
    const counts = [errors, warnings].filter((text) => text !== undefined).join(", ");
    throw new CommandError(`the checks found ${counts}`, errors === undefined ? 1 : 2);
  },
);

type Style = (style: (typeof styles)[DoctorFinding["state"]], text: string) => string;

function linesOf({ check, state, message, mend }: DoctorFinding, style: Style): string[] {
  const line = `${style(styles[state], state.padEnd(7))}  ${check}: ${message}`;
  return mend === "" ? [line] : [line, `         mend: ${mend}`];
}

/** Returns the number of findings in a state, such as `2 warnings`; undefined if there are none. */
function countOf(findings: readonly DoctorFinding[], state: "warning" | "error"): string | undefined {
  const count = findings.filter((finding) => finding.state === state).length;
  if (count === 0) return undefined;
  return `${count} ${state}${count === 1 ? "" : "s"}`;
}
