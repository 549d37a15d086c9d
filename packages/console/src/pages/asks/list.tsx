import { type Ask, JobsService } from "@svc/gen/jobs";
import { getRouteApi } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { Choice } from "../../ui/choice.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { ToggleButton } from "../../ui/toggle-button.tsx";
import { lastAnsweredAs } from "./answer-as.ts";
import { askCard, askColumns } from "./columns.tsx";
import { type AsksSearch, asksRequest, isListed } from "./filters.ts";
import { useContacts } from "./use-ask.ts";

const route = getRouteApi("/p/$projectId/asks");
const lookMs = 3_000;
const idOf = ({ requestId }: Ask) => requestId;

/** The inbox: the questions that wait for people, or those that were settled. */
export default function AsksPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(
    JobsService.method.listAsks,
    asksRequest(search),
    ({ asks }) => asks.filter((ask) => isListed(search, ask)),
    {
      refetchMs: lookMs,
    },
  );
  const change = (to: AsksSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const clear = () => change({ of: undefined, show: undefined, schedule: undefined });
  return (
    <Page title="Asks" fill filters={<Filters search={search} projectId={projectId} onChange={change} />}>
      <ListStates
        list={list}
        isFiltered={search.of !== undefined || search.schedule !== undefined}
        empty={<NoAsks isSettled={search.show === "settled"} />}
        noMatch={<NoMatch title="No ask matches" onClear={clear} />}
      >
        <Grid
          label="Asks"
          columns={askColumns(projectId)}
          card={askCard}
          rows={list.rows}
          rowId={idOf}
          onOpen={({ jobId, requestId }) =>
            void navigate({ to: "/p/$projectId/asks/$jobId/$askId", params: { projectId, jobId, askId: requestId } })
          }
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
    </Page>
  );
}

function Filters({
  search,
  projectId,
  onChange,
}: {
  search: AsksSearch;
  projectId: string;
  onChange: (to: AsksSearch) => void;
}) {
  const contacts = useContacts().data?.contacts ?? [];
  const me = lastAnsweredAs(projectId);
  const isSettled = search.show === "settled";
  return (
    <>
      <ToggleButton on={!isSettled} onPress={() => onChange({ show: undefined })}>
        Waiting
      </ToggleButton>
      <ToggleButton on={isSettled} onPress={() => onChange({ show: "settled" })}>
        Settled
      </ToggleButton>
      {me !== undefined && (
        <ToggleButton on={search.of === me} onPress={() => onChange({ of: search.of === me ? undefined : me })}>
          Mine, as {me}
        </ToggleButton>
      )}
      <Choice
        label="Held by"
        value={search.of ?? ""}
        options={[
          { value: "", words: "anybody" },
          ...contacts.map(({ principalId, name }) => ({ value: principalId, words: principalId, note: name })),
        ]}
        onChange={(of) => onChange({ of: of || undefined })}
      />
    </>
  );
}

function NoAsks({ isSettled }: { isSettled: boolean }) {
  return (
    <Empty icon="ask" title={isSettled ? "Nothing was settled yet" : "Nobody is asked anything"}>
      <p>A job asks where its program declares a point, and before it destroys. What it asks appears here.</p>
    </Empty>
  );
}
