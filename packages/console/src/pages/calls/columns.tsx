import type { ToolCall } from "@svc/gen/tools";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { outcomeWord } from "../../words/calls.ts";
import { durationWords } from "../../words/time.ts";

/** The columns of the ledger. */
export function callColumns(projectId: string): readonly Column<ToolCall>[] {
  return [
    { id: "made", title: "Made", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "tool", title: "Tool", width: "minmax(160px, 2fr)", cell: ({ toolSlug }) => <span>{toolSlug}</span> },
    { id: "outcome", title: "Outcome", width: "160px", cell: ({ outcome }) => <State word={outcomeWord(outcome)} /> },
    { id: "entity", title: "Entity", width: "minmax(72px, 1fr)", cell: ({ entityId }) => <span>{entityId}</span> },
    { id: "took", title: "Took", width: "80px", cell: (call) => tookWords(call) },
    { id: "by", title: "By", width: "64px", cell: ({ jobId }) => (jobId === "" ? "caller" : "job") },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <CallLink projectId={projectId} id={id} /> },
  ];
}

/** A call on a phone. */
export function callCard(call: ToolCall) {
  return (
    <>
      <b>{call.toolSlug}</b>
      <Line apart>
        <State word={outcomeWord(call.outcome)} />
        <span>{call.entityId}</span>
        <Time at={call.createdAt} />
      </Line>
    </>
  );
}

/** How long a call took; nothing of one that is under way. */
function tookWords({ outcome, durationMs }: ToolCall): string {
  return outcome === "running" ? "" : durationWords(durationMs);
}

function CallLink({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Link to="/p/$projectId/calls/$callId" params={{ projectId, callId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}
