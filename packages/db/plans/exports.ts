import { getTableName } from "drizzle-orm";
import { ownRows, rowsOfEntity } from "../src/entity-export/membership.ts";
import { erasedTables } from "../src/schema/erased-tables.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";
import { exportWholeEntity } from "./planner/whole-erasures.ts";

const named = { projectId: seededId("prj", 9), entityId: "ada" };
const oneUuid = "018bcfe5-6800-7000-8000-000000000001";

// Recorded query plans of an export of an entity: the first and second page of each table that has rows of the entity.
plan("export an entity", exportWholeEntity);

for (const erased of erasedTables.filter(({ key }) => key !== undefined)) {
  const name = getTableName(erased.table);
  if (typeof erased.entity === "object" && "names" in erased.entity)
    plan(`which ${name} are an entity's`, (db) => ownRows(db, named, erased, [oneUuid]));
  if ((erased.parents ?? []).length > 0)
    plan(`what some ${name} go with`, (db) => rowsOfEntity(db, named, erased, [oneUuid]));
}
