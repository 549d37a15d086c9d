import { AdminService, type QuarantinedPost } from "@svc/gen/admin";
import { getRouteApi } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { useNow } from "../../clock.ts";
import { anyOf, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { Switch } from "../../ui/switch.tsx";
import { quarantineReasons } from "../../words/quarantine.ts";
import { postCard, postColumns } from "./columns.tsx";
import { isFiltered, type QuarantineSearch, quarantineRequest } from "./filters.ts";
import { ReleaseButton } from "./release-button.tsx";
import { ToolkitFilter } from "./toolkit-filter.tsx";

const route = getRouteApi("/admin/quarantine");
const idOf = ({ id }: QuarantinedPost) => id;
const minuteMs = 60_000;

/** Verified posts that could not become events, newest first, and the way to try them again. */
export default function QuarantinePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(minuteMs);
  const list = useRows(AdminService.method.listQuarantinedPosts, quarantineRequest(search), ({ posts }) => posts);
  const change = (to: QuarantineSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const clear = () => change({ toolkit: undefined, reason: undefined });
  const why =
    search.reason === undefined ? undefined : "A release takes posts by toolkit, and not by reason: clear that filter";
  return (
    <Page
      title="Quarantine"
      fill
      actions={
        <ReleaseButton
          words={search.toolkit === undefined ? "Release all…" : `Release all to ${search.toolkit}…`}
          filter={{ toolkitSlug: search.toolkit ?? "", untilMs: now + minuteMs }}
          why={why}
        />
      }
      filters={
        <>
          <ToolkitFilter
            posts={list.rows}
            value={search.toolkit}
            onChange={(toolkit) => change({ toolkit: toolkit || undefined })}
          />
          <Choice
            label="Reason"
            value={search.reason ?? ""}
            options={anyOf(quarantineReasons)}
            onChange={(reason) => change({ reason: reason || undefined })}
          />
          <Switch
            label="Released ones, too"
            on={search.released !== undefined}
            onChange={(on) => change({ released: on ? "shown" : undefined })}
          />
          {isFiltered(search) && <ClearFilters onPress={clear} />}
        </>
      }
    >
      <ListStates
        list={list}
        isFiltered={isFiltered(search)}
        empty={
          <Empty icon="check" title="Nothing is held">
            <p>
              A post whose signature is good but which no trigger, schema or account fits is held here, and not lost.
            </p>
          </Empty>
        }
        noMatch={<NoMatch title="No post matches" onClear={clear} />}
      >
        <Grid
          label="Quarantined posts"
          columns={postColumns()}
          card={postCard}
          rows={list.rows}
          rowId={idOf}
          onOpen={({ id }) => void navigate({ to: "/admin/quarantine/$postId", params: { postId: id } })}
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
    </Page>
  );
}
