import { GrantsService } from "@svc/gen/grants";
import { useRows } from "../../calls/rows.ts";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { ListStates } from "../../ui/rows/list-states.tsx";
import { LoadMore } from "../../ui/rows/load-more.tsx";
import { GrantItem } from "./grant-item.tsx";

/** What people let agents do: those that hold first, those that have ended where they are asked for. */
export function Grants({ projectId }: { projectId: string }) {
  const list = useRows(GrantsService.method.listGrants, { pageSize: 200 }, ({ grants }) => grants);
  const [held, ended] = [list.rows.filter(({ active }) => active), list.rows.filter(({ active }) => !active)];
  const items = (label: string, rows: typeof held) => (
    <Items label={label}>
      {rows.map((grant) => (
        <GrantItem key={grant.id} grant={grant} projectId={projectId} />
      ))}
    </Items>
  );
  return (
    <Section title="Agents let in">
      <ListStates list={list} empty={<NoGrants />}>
        <Stack>
          {held.length > 0 ? items("Grants", held) : <p>No grant holds: every agent that was let in is out again.</p>}
          {ended.length > 0 && (
            <Disclosure summary={ended.length === 1 ? "One has ended" : `${ended.length} have ended`}>
              {items("Grants that have ended", ended)}
            </Disclosure>
          )}
          <LoadMore list={list} />
        </Stack>
      </ListStates>
    </Section>
  );
}

function NoGrants() {
  return (
    <Empty icon="plug" title="No agent was let in yet">
      <p>
        An agent's program that is given the address of this service's <code>/mcp</code>, and no key, leads a person to
        a page that asks what it may do. What the person allows is a grant, and stands here.
      </p>
    </Empty>
  );
}
