SELECT name, (SELECT count(*) FROM posts WHERE posts.user_id = users.id) AS n
FROM users
WHERE age > (SELECT avg(age) FROM users) AND CAST(zip AS INTEGER) % 2 = 0