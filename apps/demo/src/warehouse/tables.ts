/**
 * The warehouse's own tables. `stage.body` is not the warehouse's: there the work itself notes when it
 * ran, and nothing of Sole Writer knows of it.
 */
export const createTables = `
  CREATE SCHEMA warehouse;
  CREATE TABLE warehouse.article (
    sku text PRIMARY KEY, name text NOT NULL, family text NOT NULL, supplier text NOT NULL,
    pack_size int NOT NULL, min_stock int NOT NULL, unit_price_cents int NOT NULL,
    unit_weight_g int NOT NULL);
  CREATE TABLE warehouse.stock (
    sku text REFERENCES warehouse.article, bin text, on_hand int NOT NULL, PRIMARY KEY (sku, bin));
  CREATE TABLE warehouse.sale (
    line int PRIMARY KEY, sold_on date NOT NULL, order_no int NOT NULL,
    sku text NOT NULL REFERENCES warehouse.article, quantity int NOT NULL);
  CREATE TABLE warehouse.box (
    box text PRIMARY KEY, bin text NOT NULL, sku text NOT NULL REFERENCES warehouse.article,
    quantity int NOT NULL);

  -- The highest fence that ever wrote the results of a graph.
  CREATE TABLE warehouse.written_by (graph text PRIMARY KEY, fence bigint NOT NULL);
  CREATE TABLE warehouse.purchase_order (
    planned_for text, supplier text, fence bigint NOT NULL, lines jsonb NOT NULL,
    total_cents bigint NOT NULL, PRIMARY KEY (planned_for, supplier));
  CREATE TABLE warehouse.audit_finding (
    audited_for text, number int, fence bigint NOT NULL, finding jsonb NOT NULL,
    PRIMARY KEY (audited_for, number));

  CREATE SCHEMA stage;
  CREATE TABLE stage.body (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, graph text NOT NULL, node text NOT NULL,
    fence bigint NOT NULL, pid int NOT NULL, began_ns bigint NOT NULL, ended_ns bigint);
`;
