import { JobsService, type Skill } from "@svc/gen/jobs";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { Empty } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { classWord } from "../../words/calls.ts";

const route = getRouteApi("/p/$projectId/skills");
const slugOf = ({ slug }: Skill) => slug;

/** The skills of the project: programs that are called like tools. */
export default function SkillsPage() {
  const { projectId } = route.useParams();
  const navigate = route.useNavigate();
  const list = useRows(JobsService.method.listSkills, { pageSize: 100 }, ({ skills }) => skills);
  return (
    <Page title="Skills" fill>
      <ListStates list={list} isFiltered={false} empty={<NoSkills />} noMatch={null}>
        <Grid
          label="Skills"
          columns={columns(projectId)}
          card={card}
          rows={list.rows}
          rowId={slugOf}
          onOpen={({ slug }) => void navigate({ to: "/p/$projectId/skills/$slug", params: { projectId, slug } })}
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
    </Page>
  );
}

function columns(projectId: string): readonly Column<Skill>[] {
  return [
    {
      id: "slug",
      title: "Skill",
      width: "minmax(120px, 1fr)",
      cell: ({ slug, toolSlug }) => (
        <Link to="/p/$projectId/skills/$slug" params={{ projectId, slug }}>
          <code>{toolSlug}</code>
        </Link>
      ),
    },
    {
      id: "class",
      title: "Class",
      width: "120px",
      cell: ({ accessClass }) => <State word={classWord(accessClass)} />,
    },
    { id: "says", title: "What it does", width: "minmax(160px, 3fr)", cell: ({ description }) => description },
    { id: "version", title: "Version", width: "80px", cell: ({ version }) => version },
    { id: "made", title: "Made", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

function card({ toolSlug, description, accessClass }: Skill) {
  return (
    <>
      <Line apart>
        <b>{toolSlug}</b>
        <State word={classWord(accessClass)} />
      </Line>
      <span>{description}</span>
    </>
  );
}

function NoSkills() {
  return (
    <Empty icon="skill" title="No skills yet">
      <p>
        A skill is the program of a job that succeeded, made a tool. Open such a job, and choose Make a skill of it.
      </p>
      <p>Its program has to declare what it takes, as an inputSchema.</p>
    </Empty>
  );
}
