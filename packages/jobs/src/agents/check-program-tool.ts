import { type AgentTool, answered, type ListedTool, spoken, type ToolAnswer } from "@svc/tools";
import { describeProgram } from "../api/check-program.ts";
import { withNotes } from "../api/notes.ts";
import { guide } from "./guide.ts";
import type { AgentJobsContext } from "./parts.ts";

const listed: ListedTool = {
  name: "check_program",
  title: "Check a program",
  description:
    "Checks a program for run_program and runs nothing: tells every fault at once, each with its place and what would be right, or what the " +
    "program can do at most. Without arguments it returns how programs are written: read that first.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    properties: { program: { type: "object", description: "The program. Leave it out to read how one is written." } },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
};

/** Checks programs, and teaches how they are written. */
export function createCheckProgramTool(context: AgentJobsContext): AgentTool {
  return {
    group: "programs",
    listed,
    async answer({ program }, { principal }) {
      if (program === undefined) return answered({ guide }, guide);
      return checkedAnswer(await describeProgram(context, principal, JSON.stringify(program)));
    },
  };
}

type Checked = Awaited<ReturnType<typeof describeProgram>>;

function checkedAnswer({ faults, omittedFaults, estimate, needsApproval, notes }: Checked): ToolAnswer {
  if (faults.length > 0) {
    const told = faults.map(({ reason, field, message, help }) => ({
      ...{ reason, field: field.replace(/^programJson/, "program") },
      ...{ message: spoken(message), help: spoken(help) },
    }));
    const lines = told.map(({ reason, field, message, help }) => `${field} ${reason}: ${message}: ${help}`);
    if (omittedFaults > 0) lines.push(`and ${omittedFaults} more`);
    return { texts: [lines.join("\n")], structured: { faults: told, omittedFaults }, isError: true };
  }
  const { callsMin = 0, callsMax = 0, writesMax = 0, destructiveMax = 0, rowsMax = 0, asksMax = 0 } = estimate ?? {};
  const most = { callsMin, callsMax, writesMax, destructiveMax, rowsMax, asksMax, needsApproval };
  const approval = needsApproval ? " A person must approve it before it begins." : "";
  const text =
    `No faults. It makes ${callsMin} to ${callsMax} calls, at most ${writesMax} of them writes and ${destructiveMax} destructive, over at most ` +
    `${rowsMax} rows, and asks at most ${asksMax} questions.${approval} Run it with run_program.`;
  return withNotes(answered({ faults: [], ...most }, text), notes);
}
