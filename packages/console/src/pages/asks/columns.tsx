import type { Ask } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { askStateWord, decisionWords } from "../../words/asks.ts";
import { visible } from "../../words/visible.ts";

/** The columns of the inbox. */
export function askColumns(projectId: string): readonly Column<Ask>[] {
  return [
    { id: "asked", title: "Asked", width: "136px", cell: ({ askedAt }) => <Time at={askedAt} /> },
    { id: "state", title: "State", width: "128px", cell: ({ state }) => <State word={askStateWord(state)} /> },
    { id: "question", title: "Question", width: "minmax(200px, 3fr)", cell: ({ question }) => question },
    { id: "held", title: "Held by", width: "minmax(80px, 1fr)", cell: (ask) => <Held ask={ask} /> },
    { id: "next", title: "Passes on", width: "104px", cell: ({ deadlineAt }) => <Time at={deadlineAt} none="" /> },
    {
      id: "id",
      title: "Id",
      width: "136px",
      cell: ({ jobId, requestId }) => (
        <Link to="/p/$projectId/asks/$jobId/$askId" params={{ projectId, jobId, askId: requestId }} title={requestId}>
          <code>{shortId(requestId)}</code>
        </Link>
      ),
    },
  ];
}

/** An ask on a phone. */
export function askCard(ask: Ask) {
  return (
    <>
      <b>{visible(ask.question)}</b>
      <Line apart>
        <State word={askStateWord(ask.state)} />
        <Held ask={ask} />
        <Time at={ask.askedAt} />
      </Line>
    </>
  );
}

/** Who holds a pending ask; how another was settled. */
function Held({ ask: { decision, principalId, approvalId } }: { ask: Ask }) {
  return <span>{decision === undefined ? principalId : decisionWords(decision, approvalId !== "")}</span>;
}
