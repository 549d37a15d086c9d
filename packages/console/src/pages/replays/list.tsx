import { type Replay, TriggersService } from "@svc/gen/triggers";
import { getRouteApi } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import type { ReplaysSearch } from "./filters.ts";
import { ReplayItem } from "./replay-item.tsx";
import { StartDialog } from "./start.tsx";

const route = getRouteApi("/p/$projectId/replays");
const lookMs = 2_000;

/** Draws the replays of the project with their progress, and the button that starts one. */
export default function ReplaysPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(TriggersService.method.listReplays, {}, ({ replays }) => replays, { refetchMs: lookMs });
  const change = (to: ReplaysSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  return (
    <Page
      title="Resends"
      isCovered={search.start === "yes"}
      actions={
        <Button kind="primary" icon="replay" onPress={() => change({ start: "yes" })}>
          Resend events
        </Button>
      }
    >
      <ListStates
        list={list}
        empty={
          <Empty icon="replay" title="Nothing resent yet">
            <p>Send the events of a time range again, for example after an outage of your server.</p>
          </Empty>
        }
      >
        <Stack>
          {list.rows.map((replay: Replay) => (
            <ReplayItem key={replay.id} replay={replay} />
          ))}
          <LoadMore list={list} />
        </Stack>
      </ListStates>
      {search.start === "yes" && (
        <StartDialog search={search} onChange={change} onClose={() => void navigate({ search: {}, replace: true })} />
      )}
    </Page>
  );
}
