CREATE TABLE "standing_state" (
	"id" integer PRIMARY KEY NOT NULL,
	"tz_version" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "standing_programs" ADD COLUMN "time_zone" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "due_tasks_project" ON "due_tasks" USING btree ("project_id","due_at");