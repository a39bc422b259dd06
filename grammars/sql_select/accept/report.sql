WITH recent AS (
  SELECT customer_id, sum(total) AS spent, count(DISTINCT id) AS orders
  FROM orders
  WHERE ordered_at >= date('now', '-30 days')
  GROUP BY customer_id
), best AS (SELECT customer_id FROM recent ORDER BY spent DESC LIMIT 100)
SELECT
  c.name,
  CASE WHEN r.spent > 1000 THEN 'gold' WHEN r.spent > 100 THEN 'silver' ELSE 'bronze' END AS tier,
  round(r.spent / r.orders, 2) AS average,
  row_number() OVER (PARTITION BY c.country ORDER BY r.spent DESC) AS place
FROM customers AS c
JOIN recent AS r ON r.customer_id = c.id
WHERE c.id IN (SELECT customer_id FROM best)
  AND NOT EXISTS (SELECT * FROM complaints WHERE complaints.customer_id = c.id)
ORDER BY r.spent DESC NULLS LAST, c.name
LIMIT 20;