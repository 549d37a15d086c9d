import type { QuarantinedPost } from "@svc/gen/admin";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { quarantineReasonWord } from "../../words/quarantine.ts";

/** The columns of the list of quarantined posts. */
export function postColumns(): readonly Column<QuarantinedPost>[] {
  return [
    { id: "received", title: "Received", width: "136px", cell: ({ receivedAt }) => <Time at={receivedAt} /> },
    { id: "toolkit", title: "Toolkit", width: "minmax(96px, 1fr)", cell: ({ toolkitSlug }) => toolkitSlug },
    {
      id: "reason",
      title: "Reason",
      width: "160px",
      cell: ({ reason }) => <State word={quarantineReasonWord(reason)} />,
    },
    { id: "detail", title: "What was wrong", width: "minmax(160px, 3fr)", cell: ({ detail }) => detail },
    { id: "released", title: "Released", width: "112px", cell: ({ releasedAt }) => <Time at={releasedAt} none="no" /> },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <PostLink id={id} /> },
  ];
}

/** A post on a phone. */
export function postCard({ toolkitSlug, reason, detail, receivedAt }: QuarantinedPost) {
  return (
    <>
      <Line apart>
        <b>{toolkitSlug}</b>
        <Time at={receivedAt} />
      </Line>
      <Line>
        <State word={quarantineReasonWord(reason)} />
      </Line>
      <span>{detail}</span>
    </>
  );
}

function PostLink({ id }: { id: string }) {
  return (
    <Link to="/admin/quarantine/$postId" params={{ postId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}
