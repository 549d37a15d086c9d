DROP INDEX "tool_calls_project";--> statement-breakpoint
DROP INDEX "tool_calls_tool";--> statement-breakpoint
DROP INDEX "tool_calls_entity";--> statement-breakpoint
DROP INDEX "tool_calls_failure";--> statement-breakpoint
CREATE INDEX "tool_calls_tool_failure" ON "tool_calls" USING btree ("tool_slug","project_id","failure","id") WHERE failure is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_entity_failure" ON "tool_calls" USING btree ("entity_id","project_id","tool_slug","failure","id") WHERE failure is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_project" ON "tool_calls" USING btree ("project_id","id") WHERE failure is null;--> statement-breakpoint
CREATE INDEX "tool_calls_tool" ON "tool_calls" USING btree ("tool_slug","project_id","id") WHERE failure is null;--> statement-breakpoint
CREATE INDEX "tool_calls_entity" ON "tool_calls" USING btree ("entity_id","project_id","tool_slug","id") WHERE failure is null;--> statement-breakpoint
CREATE INDEX "tool_calls_failure" ON "tool_calls" USING btree ("failure","project_id","id") WHERE failure is not null;