import { JobsService } from "@svc/gen/jobs";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { listSearch } from "../../frame/list-search.ts";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { classWord } from "../../words/calls.ts";

const skills = listPage({
  title: "Saved tools",
  method: JobsService.method.listSkills,
  rows: "skills",
  params: listSearch({}, {}, () => ({ pageSize: 100 })),
  columns: [
    { id: "slug", title: "Saved tool", width: "minmax(120px, 1fr)", linked: ({ toolSlug }) => <code>{toolSlug}</code> },
    {
      id: "class",
      title: "Effect",
      width: "120px",
      cell: ({ accessClass }) => <State word={classWord(accessClass)} />,
    },
    { id: "says", title: "Description", width: "minmax(160px, 3fr)", cell: ({ description }) => description },
    { id: "version", title: "Version", width: "80px", drop: 1, cell: ({ version }) => version },
    { id: "made", title: "Created", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  card: ({ toolSlug, description, accessClass }) => (
    <>
      <Line apart>
        <b>{toolSlug}</b>
        <State word={classWord(accessClass)} />
      </Line>
      <span>{description}</span>
    </>
  ),
  rowId: ({ slug }) => slug,
  open: ({ slug }, projectId) => ({ to: "/p/$projectId/skills/$slug", params: { projectId, slug } }),
  empty: NoSkills,
});

/** Draws the skills of the project: programs that can be called like tools. */
export default function SkillsPage() {
  return <ListPage of={skills} />;
}

function NoSkills() {
  return (
    <Empty icon="skill" title="No saved tools yet">
      <p>A saved tool is the program of a job that succeeded. Open such a job, and choose Save as a tool.</p>
      <p>Its program needs an inputSchema.</p>
    </Empty>
  );
}
