CREATE TABLE "webhook_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"toolkit_slug" text NOT NULL,
	"value" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ends_at" timestamp (3) with time zone
);
--> statement-breakpoint
DROP INDEX "quarantined_posts_held";--> statement-breakpoint
DROP INDEX "quarantined_posts_held_toolkit";--> statement-breakpoint
DROP INDEX "quarantined_posts_released";--> statement-breakpoint
DROP INDEX "quarantined_posts_released_toolkit";--> statement-breakpoint
ALTER TABLE "quarantined_posts" ADD COLUMN "project_id" uuid;--> statement-breakpoint
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_secrets_toolkit" ON "webhook_secrets" USING btree ("project_id","toolkit_slug","id");--> statement-breakpoint
CREATE INDEX "quarantined_posts_project_held" ON "quarantined_posts" USING btree ("project_id","reason","id") WHERE released_at is null and project_id is not null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_project_held_toolkit" ON "quarantined_posts" USING btree ("toolkit_slug","project_id","reason","id") WHERE released_at is null and project_id is not null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_project_released" ON "quarantined_posts" USING btree ("project_id","reason","id") WHERE released_at is not null and project_id is not null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_project_released_toolkit" ON "quarantined_posts" USING btree ("toolkit_slug","project_id","reason","id") WHERE released_at is not null and project_id is not null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_held" ON "quarantined_posts" USING btree ("reason","id") WHERE released_at is null and project_id is null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_held_toolkit" ON "quarantined_posts" USING btree ("toolkit_slug","reason","id") WHERE released_at is null and project_id is null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_released" ON "quarantined_posts" USING btree ("reason","id") WHERE released_at is not null and project_id is null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_released_toolkit" ON "quarantined_posts" USING btree ("toolkit_slug","reason","id") WHERE released_at is not null and project_id is null;