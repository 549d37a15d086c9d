import type { ProjectId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { subscriptions } from "../schema/index.ts";
import { fieldsOf, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/parts.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";

const columns = selectList(subscriptions, ["id", "projectId", "eventTypes"], "s");

/** An ask endpoint that is told of more than asks. */
export type NoticeEndpoint = Readonly<Row<typeof subscriptions, "id" | "projectId" | "eventTypes">>;

/** The subscriptions of each project by their index: asked for an order, the store may go through the endpoints of all projects. */
const selectEndpoints = compose(
  "find_notice_endpoints",
  { wanted: rows(fieldsOf(subscriptions, "projectId")) },
  ({ wanted }) => query<RawRow<NoticeEndpoint>>`
    select ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (select * from subscriptions where project_id = wanted.project_id offset 0) s
    where s.kind = 'asks' and s.active and s.event_types <> '{}'`,
);

/** The active ask endpoints of many projects that name what they are told of, newest first. */
export async function findNoticeEndpoints(db: Executor, projectIds: readonly ProjectId[]): Promise<NoticeEndpoint[]> {
  const wanted = [...new Set(projectIds)].map((projectId) => ({ projectId }));
  const found = (await selectEndpoints(db, { wanted })).map((row) => columns.read(row));
  return found.sort((one, other) => (one.id < other.id ? 1 : -1));
}
