import { AdminService, type QuarantinedPost } from "@svc/gen/admin";
import { TriggersService } from "@svc/gen/triggers";
import { useParams } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import type { ListPart } from "../../frame/list-filters.tsx";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { anyOf } from "../../ui/fields/choice.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { quarantineReasons, quarantineReasonWord } from "../../words/quarantine.ts";
import { quarantineSearch } from "./filters.ts";
import { ReleaseButton } from "./release-button.tsx";

const minuteMs = 60_000;

type Search = ReturnType<typeof quarantineSearch.read>;

const quarantine = listPage({
  title: "Quarantine",
  label: "Quarantined posts",
  // Posts to shared toolkits. On the page of a project, the call of the same name lists the posts to its private toolkits.
  method: AdminService.method.listQuarantinedPosts,
  rows: "posts",
  params: quarantineSearch,
  actions: ReleaseAll,
  filters: {
    toolkit: { choice: "App", options: toolkitOptions },
    reason: { choice: "Reason", options: anyOf(quarantineReasons.map(quarantineReasonWord)) },
    released: { switch: "Show released", on: "shown" },
  },
  columns: [
    { id: "received", title: "Received", width: "136px", cell: ({ receivedAt }) => <Time at={receivedAt} /> },
    { id: "toolkit", title: "App", width: "minmax(96px, 1fr)", cell: ({ toolkitSlug }) => toolkitSlug },
    {
      id: "reason",
      title: "Reason",
      width: "160px",
      cell: ({ reason }) => <State word={quarantineReasonWord(reason)} />,
    },
    { id: "detail", title: "Problem", width: "minmax(160px, 3fr)", cell: ({ detail }) => detail },
    { id: "released", title: "Released", width: "112px", cell: ({ releasedAt }) => <Time at={releasedAt} none="no" /> },
    "id",
  ],
  card: ({ toolkitSlug, reason, detail, receivedAt }) => (
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
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) =>
    projectId === ""
      ? { to: "/admin/quarantine/$postId", params: { postId: id } }
      : { to: "/p/$projectId/quarantine/$postId", params: { projectId, postId: id } },
  empty: () => (
    <Empty icon="check" title="Quarantine is empty">
      <p>svc keeps posts here that have a valid signature but match no trigger, schema or account.</p>
    </Empty>
  ),
  noMatch: "No post matches",
});

const ofProject = {
  ...quarantine,
  method: TriggersService.method.listQuarantinedPosts,
  notes: () => <p>Posts to your own apps. Posts to shared apps are in the administration.</p>,
};

/**
 * Draws the page of quarantined webhook posts, newest first. It shows the posts to one project's private toolkits, or to all shared
 * toolkits.
 */
export default function QuarantinePage() {
  const { projectId } = useParams({ strict: false });
  return projectId === undefined ? <ListPage of={quarantine} /> : <ListPage key={projectId} of={ofProject} />;
}

function ReleaseAll({ search: { toolkit, reason } }: ListPart<QuarantinedPost, Search>) {
  const now = useNow(minuteMs);
  return (
    <ReleaseButton
      words={toolkit === undefined ? "Release all…" : `Release all to ${toolkit}…`}
      filter={{ toolkitSlug: toolkit ?? "", untilMs: now + minuteMs }}
      why={reason === undefined ? undefined : "Posts are released by app, not by reason. Clear that filter."}
    />
  );
}

/** Returns the options of the toolkit filter: the toolkits (apps) of the webhook posts that are loaded, and the chosen toolkit. */
function toolkitOptions({ rows, search: { toolkit } }: ListPart<QuarantinedPost, Search>) {
  const slugs = new Set([...(toolkit === undefined ? [] : [toolkit]), ...rows.map(({ toolkitSlug }) => toolkitSlug)]);
  return anyOf([...slugs].toSorted());
}
