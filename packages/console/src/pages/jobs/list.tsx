import { type Job, JobsService } from "@svc/gen/jobs";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { useNow } from "../../clock.ts";
import { buttonClass } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/copy.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { jobCard, jobColumns } from "./columns.tsx";
import { isFiltered, isListed, type JobsSearch, jobsRequest } from "./filters.ts";
import { JobFilters, noFilters } from "./job-filters.tsx";

const route = getRouteApi("/p/$projectId/jobs");
const minuteMs = 60_000;
const lookMs = 3_000;
const idOf = ({ id }: Job) => id;

/** The jobs of the project, newest first. */
export default function JobsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(
    JobsService.method.listJobs,
    jobsRequest(search, useNow(minuteMs)),
    ({ jobs }) => jobs.filter((job) => isListed(search, job)),
    { refetchMs: lookMs },
  );
  const change = (to: JobsSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const newProgram = (
    <Link to="/p/$projectId/programs/new" params={{ projectId }} className={buttonClass("primary")}>
      New program
    </Link>
  );
  return (
    <Page title="Jobs" fill filters={<JobFilters search={search} onChange={change} />} actions={newProgram}>
      <ListStates
        list={list}
        isFiltered={isFiltered(search)}
        empty={<NoJobs />}
        noMatch={<NoMatch title="No job matches" onClear={() => change(noFilters)} />}
      >
        <Grid
          label="Jobs"
          columns={jobColumns(projectId)}
          card={jobCard}
          rows={list.rows}
          rowId={idOf}
          onOpen={({ id }) => void navigate({ to: "/p/$projectId/jobs/$jobId", params: { projectId, jobId: id } })}
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
    </Page>
  );
}

function NoJobs() {
  return (
    <Empty icon="job" title="No jobs yet">
      <p>A job is work bigger than one call: a program that is submitted once and runs to its receipt. Submit one:</p>
      <CodeBlock text="npx svc jobs submit docs/examples/count-deals.json" />
      <p>Or write one here, with New program.</p>
    </Empty>
  );
}
